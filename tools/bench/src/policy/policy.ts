import { availableParallelism } from 'node:os';
import { enrol, startClusters } from '../load/clusters.ts';
import { Fleet } from '../load/fleet.ts';
import { ours, peer } from '../measure/contender.ts';
import { download, type Downloaded } from '../measure/download.ts';
import { SetWatch } from '../measure/set-watch.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report/report.ts';
import { type Bench, warmUp } from './bench.ts';
import { figures } from './figures.ts';
import type { Result } from './result.ts';
import { run } from './run.ts';

/**
 * The bench of semaphore-policy: a remote cluster full of pods, a local one, and one program after the other.
 *
 * @param launcher of our program
 * @param say hears what is being done
 */
export async function benchPolicy(
  options: BenchOptions,
  { launcher, say }: { launcher: string; say: (what: string) => void },
): Promise<Report> {
  const { pods, sets, encoding, embedded, peers } = options;
  say('starting two clusters');
  const clusters = await startClusters(embedded ? 'embedded' : 'real');
  try {
    const fleet = new Fleet({ pods, sets });
    say(`loading ${pods} pods`);
    await load(clusters.remote, fleet);
    const files = await enrol('bench', clusters);
    const bench: Bench = { ...clusters, fleet, watch: await SetWatch.open(clusters.local.api, files.local) };

    say('warming up, and downloading them');
    await warmUp(bench);
    await download(clusters.remote.api, files.remote, encoding);
    const bare = await download(clusters.remote.api, files.remote, encoding);

    const results: Result[] = [];
    for (const [index, contender] of [ours(launcher, encoding), ...peers.map(peer)].entries()) {
      const announce = (phase: string) => say(`${contender.name}: ${phase}`);
      results.push(await run(contender, bench, { account: `program-${index}`, extent: options, say: announce }));
    }
    bench.watch.close();
    // Budgets are set for protobuf, which is what it takes by itself, from the real server.
    const judged = !embedded && encoding === 'auto';
    const conditions = judged ? { pods, sets, bareDownloadSeconds: bare.seconds } : undefined;
    return { facts: facts(options, clusters.server, bare), results, figures, conditions };
  } finally {
    await clusters.stop();
  }
}

async function load({ api, seed }: Bench['remote'], fleet: Fleet): Promise<void> {
  for (const name of fleet.namespaces) {
    await api.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await seed(fleet.members);
}

function facts({ pods, sets, encoding }: BenchOptions, server: string, bare: Downloaded): string[] {
  const kilobytes = (bare.bytes / pods / 1000).toFixed(1);
  return [
    `${pods} pods in ${sets} sets, ${kilobytes} kB each in ${encoding === 'json' ? 'JSON' : 'protobuf'}`,
    `a bare download of the same stream: ${bare.seconds.toFixed(2)} s, ${(bare.bytes / 1e6).toFixed(0)} MB, ${bare.cpuSeconds.toFixed(2)} s of CPU`,
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
