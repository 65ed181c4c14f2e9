import { availableParallelism } from 'node:os';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { freePort } from '@kube-semaphore/fault-proxy';
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
import { type PolicyBench, policyRights, removeSets, warmUpPods, warmUpSets, watchedSets } from './bench.ts';
import { networkPolicyFlags, policyFlags, policyValues } from './commands.ts';
import { companionFigures, policyFigures } from './figures.ts';
import { Fleet } from './fleet.ts';
import { measurePolicy } from './measure.ts';
import {
  type BareWrites,
  bareWrites,
  createSources,
  networkPolicyRights,
  removeCompanions,
  watchedCompanions,
} from './network-policies.ts';
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
  const { pods, sets, encoding, embedded, repeat, peers, remotes: count, networkPolicies } = options;
  const rights = networkPolicies === undefined ? policyRights : networkPolicyRights;
  const size = { pods, sets, ...networkPolicies };
  say(`starting ${count + 1} clusters`);
  const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: count });
  try {
    // Without Calico, our program writes companions only.
    if (networkPolicies === undefined)
      await clusters.local.api.defineResource(globalNetworkSetCrd('projectcalico.org'));
    const fleets = clusters.remotes.map((_, remote) => new Fleet(size, remote));
    for (const [remote, fleet] of fleets.entries()) {
      say(`loading ${pods} pods${count === 1 ? '' : ` into the remote cluster ${remote + 1} of ${count}`}`);
      await load(clusters.remotes[remote]!, fleet);
    }
    const files = await enrol('bench', clusters, rights);
    const watched = networkPolicies === undefined ? watchedSets : watchedCompanions;
    const watch = await LocalWatch.open(clusters.local.api, files.local, watched);
    const bench: PolicyBench = { ...clusters, fleet: fleets[0]!, fleets, watch };

    say('warming up, and measuring the bare download');
    await warmUpPods(bench);
    // Our program also sends a field selector, which selects all of these.
    const selector = networkPolicies === undefined ? nameLabel(labelDomains[0]) : '';
    const what = { path: watchListPath('/api/v1/pods', selector), encoding };
    const downloads = () =>
      Promise.all(clusters.remotes.map(({ api }, remote) => download(api, files.remotes[remote]!, what)));
    const bare = await bareDownload(async () => together(await downloads()));

    const port = networkPolicies && (await freePort());
    let writes: BareWrites | undefined;
    if (networkPolicies === undefined) await warmUpSets(bench);
    else {
      await createSources(bench, bench.fleet);
      say('measuring bare writes');
      writes = await bareWrites(bench, options.changes);
    }
    const flags = port === undefined ? policyFlags : networkPolicyFlags(port);
    const contenders = [ours(launcher, encoding, flags), ...peers.map((command) => peer(command, policyValues))];
    const measure = (trial: Trial) => measurePolicy(bench, trial, options, port);
    const entrants = contenders.map((contender) => ({ contender, measure }));
    const columns = await runAll(entrants, bench, {
      repeat,
      rights,
      cleanUp: () => (networkPolicies === undefined ? removeSets(bench) : removeCompanions(bench)),
      say,
    });
    watch.close();
    // Targets are for the real server and protobuf, the default.
    const judged = !embedded && encoding === 'auto';
    const conditions = judged
      ? { pods: count * pods, sets: count * sets, bareDownloadSeconds: bare.seconds }
      : undefined;
    const figures =
      writes === undefined
        ? policyFigures(conditions)
        : companionFigures(conditions && { ...conditions, bareCreationSeconds: writes.creationSeconds });
    return { facts: facts(options, clusters.server, bare, writes), columns, figures };
  } finally {
    await clusters.stop();
  }
}

async function load(cluster: BenchCluster, fleet: Fleet): Promise<void> {
  await createNamespaces(cluster, fleet.namespaces);
  const { api } = cluster;
  if (api.kind === 'real') await seedEtcd(api, api.etcdSocket, fleet);
  else api.seed(fleet.members.map((member) => pod(fleet.podOptions(member))));
}

function facts(
  { pods, sets, encoding, remotes, repeat, networkPolicies }: PolicyOptions,
  server: string,
  bare: Downloaded,
  writes: BareWrites | undefined,
): string[] {
  const kilobytes = (bare.bytes / (remotes * pods) / 1000).toFixed(1);
  const format = encoding === 'json' ? 'JSON' : 'protobuf';
  const clusters = remotes === 1 ? '' : `${remotes} remote clusters, each of `;
  return [
    networkPolicies === undefined
      ? `${clusters}${pods} pods in ${sets} sets, ${kilobytes} kB each in ${format}`
      : `${pods} pods with ${networkPolicies.labelSets} label sets, ${sets} NetworkPolicies, ${kilobytes} kB a pod in ${format}`,
    bareDownloadFact(bare),
    ...(writes === undefined ? [] : [bareWritesFact(writes)]),
    medianFact(repeat),
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}

const bareWritesFact = ({ creationSeconds, updates: { p50, p99 } }: BareWrites): string =>
  `bare writes of companions: all created in ${creationSeconds.toFixed(2)} s; ` +
  `20 updates/s seen after ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99)`;
