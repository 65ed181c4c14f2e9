import { availableParallelism } from 'node:os';
import { labelDomains, nameLabel } from '@kube-semaphore/policy/names';
import { globalNetworkSetCrd, pod } from '@kube-semaphore/testkit';
import { type BenchCluster, createNamespaces, enrol, startClusters } from '../load/clusters.ts';
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
import { runAll, type Trial } from '../phases/run.ts';
import { medianFact, type Report } from '../report/report.ts';
import { type PolicyBench, policyRights, removeSets, warmUp, watchedSets } from './bench.ts';
import { policyFlags, policyValues } from './commands.ts';
import { policyFigures } from './figures.ts';
import { Fleet, podOptions } from './fleet.ts';
import { measurePolicy } from './measure.ts';
import type { PolicyOptions } from './options.ts';
import { seedEtcd } from './seed-etcd.ts';

/**
 * The bench of semaphore-policy: a remote cluster with pods, a local one, and one program after the other, in rounds.
 *
 * @param launcher of our program
 * @param say called with the progress
 */
export async function benchPolicy(
  options: PolicyOptions,
  { launcher, say }: { launcher: string; say: (what: string) => void },
): Promise<Report> {
  const { pods, sets, encoding, embedded, repeat, peers, remotes: count } = options;
  say(`starting ${count + 1} clusters`);
  const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: count });
  try {
    await clusters.local.api.defineResource(globalNetworkSetCrd('projectcalico.org'));
    const fleets = clusters.remotes.map((_, remote) => new Fleet({ pods, sets }, remote));
    for (const [remote, fleet] of fleets.entries()) {
      say(`loading ${pods} pods${count === 1 ? '' : ` into the remote cluster ${remote + 1} of ${count}`}`);
      await load(clusters.remotes[remote]!, fleet);
    }
    const files = await enrol('bench', clusters, policyRights);
    const watch = await LocalWatch.open(clusters.local.api, files.local, watchedSets);
    const bench: PolicyBench = { ...clusters, fleet: fleets[0]!, fleets, watch };

    say('warming up, and measuring the bare download');
    await warmUp(bench);
    // Our program also sends a field selector, which selects all of these.
    const what = { path: watchListPath('/api/v1/pods', nameLabel(labelDomains[0])), encoding };
    const downloads = () =>
      Promise.all(clusters.remotes.map(({ api }, remote) => download(api, files.remotes[remote]!, what)));
    const bare = await bareDownload(async () => together(await downloads()));

    const contenders = [ours(launcher, encoding, policyFlags), ...peers.map((command) => peer(command, policyValues))];
    const measure = (trial: Trial) => measurePolicy(bench, trial, options);
    const entrants = contenders.map((contender) => ({ contender, measure }));
    const columns = await runAll(entrants, bench, {
      repeat,
      rights: policyRights,
      cleanUp: () => removeSets(bench),
      say,
    });
    watch.close();
    // Targets are for the real server and protobuf, the default.
    const judged = !embedded && encoding === 'auto';
    const conditions = judged
      ? { pods: count * pods, sets: count * sets, bareDownloadSeconds: bare.seconds }
      : undefined;
    return { facts: facts(options, clusters.server, bare), columns, figures: policyFigures(conditions) };
  } finally {
    await clusters.stop();
  }
}

async function load(cluster: BenchCluster, { namespaces, members }: Fleet): Promise<void> {
  await createNamespaces(cluster, namespaces);
  const { api } = cluster;
  if (api.kind === 'real') await seedEtcd(api, api.etcdSocket, members);
  else api.seed(members.map((member) => pod(podOptions(member))));
}

function facts({ pods, sets, encoding, remotes, repeat }: PolicyOptions, server: string, bare: Downloaded): string[] {
  const kilobytes = (bare.bytes / (remotes * pods) / 1000).toFixed(1);
  const format = encoding === 'json' ? 'JSON' : 'protobuf';
  const clusters = remotes === 1 ? '' : `${remotes} remote clusters, each of `;
  return [
    `${clusters}${pods} pods in ${sets} sets, ${kilobytes} kB each in ${format}`,
    bareDownloadFact(bare),
    medianFact(repeat),
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
