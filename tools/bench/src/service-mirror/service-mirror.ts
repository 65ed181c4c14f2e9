import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { CONNECTIONS, createNamespaces, enrol, startClusters } from '../load/clusters.ts';
import { bareDownload, bareDownloadFact, type Downloaded, watchListPath } from '../measure/download.ts';
import { LocalWatch } from '../measure/local-watch.ts';
import { inParallel } from '../measure/pace.ts';
import { percentile } from '../measure/summary.ts';
import type { MirrorOptions } from '../options.ts';
import { type Bench, removeAll } from '../phases/bench.ts';
import { type Course, race, rollout, WRITES_PER_SECOND } from '../phases/race.ts';
import { machineFacts, ours, peer, type Place, runAll, type Setting, type Trial } from '../phases/run.ts';
import type { Figures, Report, Targets } from '../report/report.ts';
import { Catalog, type RemoteService } from './catalog.ts';
import { collections, expectedMirrors, mirrorOf, mirrorRights, MIRRORS, watchedMirrors } from './mirrors.ts';
import { Source } from './source.ts';
import { selector, serviceOf, slicesFor, type SourceKind, sourceObjects } from './source-objects.ts';

/** Requests of each kind before the first measurement. */
const WARM_UP = 50;

/**
 * The bench of semaphore-service-mirror: a remote cluster with Services, a local one, and one program after the other, in
 * rounds.
 */
export async function benchServiceMirror(options: MirrorOptions, { launcher, say }: Setting): Promise<Report> {
  const { services, endpoints, encoding, repeat, peer: peers, peerReads } = options;
  say('starting 2 clusters');
  const clusters = await startClusters(options);
  const { remote, local } = clusters;
  try {
    const load = async (kind: SourceKind) => {
      say(`loading ${kind} of ${services} services`);
      const source = new Source(new Catalog({ services, endpoints }), kind, remote.api.admin);
      await source.load();
      return source;
    };
    await createNamespaces(remote, new Catalog({ services, endpoints: 0 }).namespaces);
    await createNamespaces(local, [MIRRORS]);
    const slices = await load('endpointslices');
    const peersSource = peers.length > 0 && peerReads === 'endpoints' ? await load('endpoints') : slices;
    const accounts = await enrol('bench', clusters, mirrorRights);
    const bench: Bench = { ...clusters, watch: await LocalWatch.open(local.api, accounts.local, watchedMirrors) };

    say('warming up, and measuring a bare download');
    await warmUp(bench, slices);
    const lists = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'].map((collection) => {
      return { cluster: remote.api, account: accounts.remotes[0]!, path: watchListPath(collection, selector) };
    });
    const bare = await bareDownload(lists, encoding);
    say('measuring bare creations');
    const bareCreationSeconds = await bareCreations(bench, slices.catalog);

    const phasesWith = (source: Source) => (trial: Trial) =>
      race(bench, trial, courseOf(bench, source, options), options);
    const entrants = [
      { ...ours(launcher, encoding, (place) => flagsIn(place, services)), phases: phasesWith(slices) },
      ...peers.map((command) => ({ ...peer(command, textsIn), phases: phasesWith(peersSource) })),
    ];
    const cleanUp = () => removeAll(bench, Object.values(collections));
    const columns = await runAll(entrants, bench, { repeat, rights: mirrorRights, cleanUp, say });
    bench.watch.close();
    return {
      facts: [
        sizeFact(options, bare),
        ...(peers.length === 0 ? [] : [`ours reads endpointslices, the others ${peerReads}`]),
        bareDownloadFact(bare),
        `bare creations of the same local objects: ${bareCreationSeconds.toFixed(2)} s`,
        ...machineFacts(repeat, clusters.server),
      ],
      columns,
      targets: mirrorTargets(options, bareCreationSeconds),
    };
  } finally {
    await clusters.stop();
  }
}

/** The phases of one program, from the present endpoints on. */
function courseOf(bench: Bench, source: Source, options: MirrorOptions): Course {
  const { services } = source.catalog;
  const changes = Math.min(options.changes, Math.floor(services.length / 2));
  const changesOf = (some: readonly RemoteService[]) => some.map((each) => source.replacement(each, 0));
  return {
    object: 'object',
    written: 'slice',
    effect: 'the PUT of an endpoint to its local slice',
    expected: expectedMirrors(services),
    downtime: source.replacement(services.at(-1)!, 0),
    steady: changesOf(services.slice(0, changes)),
    burst: changesOf(services.slice(changes, 2 * changes)),
    rollOut: (signal) => rollOut(bench, source, { pods: options.rollout, signal }),
  };
}

/** Rolls out a new version of a new mirror: its pods are replaced one by one. */
async function rollOut(
  bench: Bench,
  source: Source,
  { pods, signal }: { pods: number; signal: AbortSignal },
): Promise<Figures> {
  const workload = source.catalog.recruit('rollout', pods);
  try {
    await Promise.all([bench.watch.complete(expectedMirrors([workload]), { signal }), source.add(workload)]);
    const replacements = workload.backends.map((_, place) => source.replacement(workload, place));
    return await rollout(bench, replacements, signal);
  } finally {
    await source.remove(workload);
  }
}

/** Changes some endpoints and mirrors first, so that lazy work of API servers isn't measured. */
async function warmUp(bench: Bench, source: Source): Promise<void> {
  const changes = source.catalog.services.slice(-WARM_UP).map((remote) => source.replacement(remote, 0));
  await inParallel(changes, CONNECTIONS, ({ apply }) => apply());
  const names = Array.from({ length: WARM_UP }, (_, index) => `warm-up-${index}`);
  const { admin } = bench.local.api;
  await inParallel(names, CONNECTIONS, async (name) => {
    await admin.create(collections.services, service({ name, namespace: MIRRORS, selector: null }));
    await admin.create(collections.slices, endpointSlice({ name, namespace: MIRRORS, service: name }));
  });
  await removeAll(bench, Object.values(collections));
}

/**
 * Creates the objects of all mirrors, and deletes them, three times: as many requests at a time as our program has by
 * default (`-write-concurrency`), each Service before its slices, and nothing else.
 *
 * @returns the median of the seconds of the creations
 */
async function bareCreations(bench: Bench, { services }: Catalog): Promise<number> {
  const { admin } = bench.local.api;
  const mirrors = services.map((remote) => ({ ...remote, namespace: MIRRORS, name: mirrorOf(remote) }));
  const times: number[] = [];
  while (times.length < 3) {
    const startMs = performance.now();
    await inParallel(mirrors, CONNECTIONS, async (mirror) => {
      const slices = sourceObjects('endpointslices', mirror, randomUUID());
      for (const { collection, object } of [serviceOf(mirror), ...slices]) await admin.create(collection, object);
    });
    times.push((performance.now() - startMs) / 1000);
    await removeAll(bench, Object.values(collections));
  }
  return percentile(times, 50);
}

/** The flags of ours for this number of services, and that of the rollout. */
async function flagsIn({ local, remote, cluster }: Place, services: number): Promise<Readonly<Record<string, string>>> {
  return {
    'kube-config': local,
    'target-kube-config': remote,
    'svc-prefix': cluster,
    'label-selector': selector,
    'mirror-ns': MIRRORS,
    'max-remote-services': String(services + 1),
  };
}

/** More texts for a peer's command: for flags, or in a config file, as in the last releases of the Go program. */
async function textsIn({ local, remote, cluster, dir }: Place): Promise<Readonly<Record<string, string>>> {
  const config = join(dir, 'service-mirror.json');
  const file = {
    global: {
      mirrorSvcLabelSelector: selector,
      // The Go program needs both; no Service has the labels.
      globalSvcLabelSelector: 'bench.example/global=true',
      globalSvcRoutingStrategyLabel: 'bench.example/routing=true',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: 'c1', kubeConfigPath: local },
    remoteClusters: [{ name: cluster, kubeConfigPath: remote, servicePrefix: cluster }],
  };
  await writeFile(config, JSON.stringify(file));
  return { selector, namespace: MIRRORS, config };
}

function sizeFact({ services, endpoints, encoding }: MirrorOptions, { bytes }: Downloaded): string {
  const slices = slicesFor(endpoints);
  const inSlices = `${slices} slice${slices === 1 ? '' : 's'}`;
  const format = encoding === 'json' ? 'JSON' : 'protobuf';
  const kilobytes = (bytes / services / 1000).toFixed(1);
  return `${services} services of ${endpoints} endpoints in ${inSlices} each, ${kilobytes} kB a service in ${format}`;
}

/** One dry run for the mirror namespace, and one for the signing keys of a cluster. */
const AT_START = 2;

/** Exported for its test. Time, CPU and memory have targets for two sizes. */
export function mirrorTargets(
  { services, endpoints, rollout: pods }: Pick<MirrorOptions, 'services' | 'endpoints' | 'rollout'>,
  bareCreationSeconds: number,
): Targets {
  const isUsual = services === 1000 && endpoints === 10;
  const isLarge = services === 5000 && endpoints === 100;
  const peakMb = isUsual ? 70 : isLarge ? 300 : undefined;
  return {
    'cold sync: all objects written after': isUsual ? 1.15 * bareCreationSeconds : isLarge ? 30 : undefined,
    'cold sync: CPU': isLarge ? 20 : undefined,
    'cold sync: peak memory': peakMb,
    'cold sync: local requests without lists and watches': AT_START + services * (1 + slicesFor(endpoints)),
    'restart: peak memory': peakMb,
    'restart: other writes': 0,
    '20 changes/s: requests per written slice': 1,
    'rollout: writes per second': WRITES_PER_SECOND * slicesFor(pods),
    'idle: CPU of one core': 0.5,
  };
}
