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
  const { pods, sets, encoding, embedded, peers, remotes: count } = options;
  say(`starting ${count + 1} clusters`);
  const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: count });
  try {
    const fleets = clusters.remotes.map((_, remote) => new Fleet({ pods, sets }, remote));
    for (const [remote, fleet] of fleets.entries()) {
      say(`loading ${pods} pods${count === 1 ? '' : ` into the remote cluster ${remote + 1} of ${count}`}`);
      await load(clusters.remotes[remote]!, fleet);
    }
    const files = await enrol('bench', clusters);
    const bench: Bench = { ...clusters, fleet: fleets[0]!, fleets, watch: await SetWatch.open(clusters.local.api, files.local) };

    say('warming up, and downloading them');
    await warmUp(bench);
    const downloads = () => Promise.all(clusters.remotes.map(({ api }, remote) => download(api, files.remotes[remote]!, encoding)));
    await downloads();
    const bare = together(await downloads());

    const results: Result[] = [];
    for (const [index, contender] of [ours(launcher, encoding), ...peers.map(peer)].entries()) {
      const announce = (phase: string) => say(`${contender.name}: ${phase}`);
      results.push(await run(contender, bench, { account: `program-${index}`, extent: options, say: announce }));
    }
    bench.watch.close();
    // Budgets are set for protobuf, which is what it takes by itself, from the real server.
    const judged = !embedded && encoding === 'auto';
    const conditions = judged ? { pods: count * pods, sets: count * sets, bareDownloadSeconds: bare.seconds } : undefined;
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

/** What downloads at the same time come to. */
function together(downloads: readonly Downloaded[]): Downloaded {
  const sum = (value: (download: Downloaded) => number) => downloads.reduce((total, each) => total + value(each), 0);
  return { seconds: Math.max(...downloads.map(({ seconds }) => seconds)), bytes: sum(({ bytes }) => bytes), cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds) };
}

function facts({ pods, sets, encoding, remotes }: BenchOptions, server: string, bare: Downloaded): string[] {
  const kilobytes = (bare.bytes / (remotes * pods) / 1000).toFixed(1);
  return [
    `${remotes === 1 ? '' : `${remotes} remote clusters, each of `}${pods} pods in ${sets} sets, ${kilobytes} kB each in ${encoding === 'json' ? 'JSON' : 'protobuf'}`,
    `a bare download of the same stream: ${bare.seconds.toFixed(2)} s, ${(bare.bytes / 1e6).toFixed(0)} MB, ${bare.cpuSeconds.toFixed(2)} s of CPU`,
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
