import { availableParallelism } from 'node:os';
import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { createNamespaces, enrol, startClusters } from '../load/clusters.ts';
import { ours, peer } from '../measure/contender.ts';
import {
  bareDownload,
  bareDownloadFact,
  download,
  type Downloaded,
  together,
  watchListPath,
} from '../measure/download.ts';
import { LocalWatch } from '../measure/local-watch.ts';
import type { Bench } from '../phases/bench.ts';
import { type Entrant, runAll } from '../phases/run.ts';
import { medianFact, type Report } from '../report/report.ts';
import { bareCreations, removeMirrors, warmUp } from './bench.ts';
import { Catalog } from './catalog.ts';
import { mirrorFlags, mirrorValues } from './commands.ts';
import { mirrorFigures } from './figures.ts';
import { measureMirror } from './measure.ts';
import { mirrorRights, MIRRORS, watchedMirrors } from './mirrors.ts';
import type { MirrorOptions } from './options.ts';
import { Source } from './source.ts';
import { selector, slicesFor, type SourceKind } from './source-objects.ts';

/**
 * The bench of semaphore-service-mirror: a remote cluster with Services, a local one, and one program after the other, in rounds.
 *
 * @param launcher of our program
 * @param say called with the progress
 */
export async function benchServiceMirror(
  options: MirrorOptions,
  { launcher, say }: { launcher: string; say: (what: string) => void },
): Promise<Report> {
  const { services, endpoints, encoding, embedded, repeat, peers, peersRead } = options;
  say('starting 2 clusters');
  const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: 1 });
  try {
    const { remote, local } = clusters;
    const load = async (kind: SourceKind) => {
      say(`loading ${kind} of ${services} services`);
      const source = new Source(new Catalog({ services, endpoints }), kind, remote.api.admin);
      await source.load();
      return source;
    };
    await createNamespaces(remote, new Catalog({ services, endpoints: 0 }).namespaces);
    await createNamespaces(local, [MIRRORS]);
    const slices = await load('endpointslices');
    const peersSource = peers.length > 0 && peersRead === 'endpoints' ? await load('endpoints') : slices;
    const files = await enrol('bench', clusters, mirrorRights);
    const watch = await LocalWatch.open(local.api, files.local, watchedMirrors);
    const bench: Bench = { ...clusters, watch };

    say('warming up, and measuring a bare download');
    await warmUp(bench, slices);
    const [reader] = files.remotes;
    if (reader === undefined) throw new Error('there is no remote cluster');
    const bare = await bareDownload(() => downloadAll(remote.api, reader, encoding));
    say('measuring bare creations');
    const bareCreationSeconds = await bareCreations(bench, slices);

    const entrant = (source: Source): Pick<Entrant, 'measure'> => ({
      measure: (trial) => measureMirror(bench, source, trial, options),
    });
    const entrants = [
      { contender: ours(launcher, encoding, mirrorFlags(options.services)), ...entrant(slices) },
      ...peers.map((command) => ({ contender: peer(command, mirrorValues), ...entrant(peersSource) })),
    ];
    const columns = await runAll(entrants, bench, {
      repeat,
      rights: mirrorRights,
      cleanUp: () => removeMirrors(bench),
      say,
    });
    watch.close();
    // Targets are for the real server and protobuf, the default.
    const judged = !embedded && encoding === 'auto';
    return {
      facts: facts(options, clusters.server, { bare, bareCreationSeconds }),
      columns,
      figures: mirrorFigures(judged ? { ...options, bareCreationSeconds } : undefined),
    };
  } finally {
    await clusters.stop();
  }
}

/** Downloads both lists in parallel, like our program. */
async function downloadAll(
  cluster: TestCluster,
  reader: TestAccount,
  encoding: MirrorOptions['encoding'],
): Promise<Downloaded> {
  const collections = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'];
  return together(
    await Promise.all(
      collections.map((collection) =>
        download(cluster, reader, { path: watchListPath(collection, selector), encoding }),
      ),
    ),
  );
}

function facts(
  { services, endpoints, encoding, peers, peersRead, repeat }: MirrorOptions,
  server: string,
  { bare, bareCreationSeconds }: { bare: Downloaded; bareCreationSeconds: number },
): string[] {
  const kilobytes = (bare.bytes / services / 1000).toFixed(1);
  const slices = slicesFor(endpoints);
  const inSlices = `${slices} slice${slices === 1 ? '' : 's'}`;
  const format = encoding === 'json' ? 'JSON' : 'protobuf';
  return [
    `${services} services of ${endpoints} endpoints in ${inSlices} each, ${kilobytes} kB a service in ${format}`,
    ...(peers.length === 0 ? [] : [`ours reads endpointslices, the others ${peersRead}`]),
    bareDownloadFact(bare),
    `bare creations of the same local objects: ${bareCreationSeconds.toFixed(2)} s`,
    medianFact(repeat),
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
