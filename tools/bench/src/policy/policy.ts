import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@kube-semaphore/fault-proxy';
import { createPod, deletePod, globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { type BenchCluster, CONNECTIONS, createNamespaces, enrol, send, startClusters } from '../load/clusters.ts';
import { bareDownload, bareDownloadFact, type Downloaded, watchListPath } from '../measure/download.ts';
import { LocalWatch } from '../measure/local-watch.ts';
import { inParallel } from '../measure/pace.ts';
import type { PolicyOptions } from '../options.ts';
import { type Bench, type Change, removeAll } from '../phases/bench.ts';
import { race, rollout } from '../phases/race.ts';
import { machineFacts, ours, peer, type Place, runAll, type Setting, type Trial } from '../phases/run.ts';
import type { Figures, Report } from '../report/report.ts';
import { expectedNets, Fleet, type Member, netOf, pathOf, setOf } from './fleet.ts';
import { companions, reevaluation } from './network-policies.ts';
import { seedEtcd } from './seed-etcd.ts';
import { ROLLOUT, sets } from './sets.ts';

/** Requests before the first measurement. */
const WARM_UP = 50;

/** The bench of semaphore-policy: remote clusters with pods, a local one, and one program after the other, in rounds. */
export async function benchPolicy(options: PolicyOptions, { launcher, say }: Setting): Promise<Report> {
  const { networkPolicies, encoding, repeat } = options;
  const kind = networkPolicies ? companions : sets;
  say(`starting ${options.remotes + 1} clusters`);
  const clusters = await startClusters(options, options.remotes);
  const { remotes, local } = clusters;
  try {
    // Without Calico, our program writes companions only.
    if (!networkPolicies) await local.api.defineResource(globalNetworkSetCrd('projectcalico.org'));
    const fleets = await load(remotes, options, say);
    const fleet = fleets[0]!;
    const accounts = await enrol('bench', clusters, kind.rights);
    const bench: Bench = { ...clusters, watch: await LocalWatch.open(local.api, accounts.local, kind.watched) };
    const changesOf = (members: readonly Member[]) => members.map((member) => addressChange(bench, fleet, member));

    say('warming up, and measuring the bare download');
    await inParallel(changesOf(fleet.members.slice(-WARM_UP)), CONNECTIONS, ({ apply }) => apply());
    // Our program also sends a field selector, which selects all of these.
    const path = watchListPath('/api/v1/pods', kind.selector);
    const lists = remotes.map(({ api }, remote) => ({ cluster: api, account: accounts.remotes[remote]!, path }));
    const bare = await bareDownload(lists, encoding);
    const changes = Math.min(options.changes, Math.floor(options.pods / 2));
    const { facts, targetsOf } = await kind.prepare(bench, fleet, { changes, say });

    const port = await freePort();
    const phases = (trial: Trial) => {
      const course = {
        object: kind.object,
        written: kind.object,
        effect: `the PATCH of a pod to its ${networkPolicies ? 'companion' : 'local set'}`,
        expected: expectedNets(fleets.flatMap(({ members }) => members)),
        steady: changesOf(fleet.members.slice(0, changes)),
        burst: changesOf(fleet.members.slice(changes, 2 * changes)),
        rollOut: (signal: AbortSignal) => rollOut(bench, fleet, { pods: options.rollout, signal }),
        more: networkPolicies ? reevaluation(bench, fleet, port) : undefined,
      };
      return race(bench, trial, course, options);
    };
    const contenders = [
      ours(launcher, encoding, (place) => flagsIn(place, options, port)),
      ...options.peer.map((command) => peer(command)),
    ];
    const columns = await runAll(
      contenders.map((contender) => ({ ...contender, phases })),
      bench,
      { repeat, rights: kind.rights, cleanUp: () => removeAll(bench, kind.collections(fleet)), say },
    );
    bench.watch.close();
    return {
      facts: [sizeFact(options, bare), bareDownloadFact(bare), ...facts, ...machineFacts(repeat, clusters.server)],
      columns,
      targets: targetsOf({
        pods: options.remotes * options.pods,
        sets: options.remotes * options.sets,
        bareDownloadSeconds: bare.seconds,
      }),
    };
  } finally {
    await clusters.stop();
  }
}

/** Fills each remote cluster with pods. */
async function load(
  remotes: readonly BenchCluster[],
  { pods, sets: setCount, networkPolicies, labelSets }: PolicyOptions,
  say: Setting['say'],
): Promise<readonly Fleet[]> {
  const fleets: Fleet[] = [];
  for (const [index, cluster] of remotes.entries()) {
    say(
      `loading ${pods} pods${remotes.length === 1 ? '' : ` into the remote cluster ${index + 1} of ${remotes.length}`}`,
    );
    const fleet = new Fleet({ pods, sets: setCount, labelSets: networkPolicies ? labelSets : undefined }, index);
    await createNamespaces(cluster, fleet.namespaces);
    if (cluster.api.kind === 'real') await seedEtcd(cluster.api, fleet);
    else cluster.api.seed(fleet.members.map((member) => fleet.object(member)));
    fleets.push(fleet);
  }
  return fleets;
}

/** A pod's next address, which it gets as from a kubelet. */
function addressChange({ remote }: Bench, fleet: Fleet, member: Member): Change {
  const ip = fleet.nextAddress();
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  const apply = async () => {
    member.ip = ip;
    await send(remote.api.admin, 'PATCH', `${pathOf(member)}/status`, { status });
  };
  return { key: setOf(member), item: netOf({ ip }), apply };
}

/** Rolls out a new set: its pods exist, and get their addresses. */
async function rollOut(
  bench: Bench,
  fleet: Fleet,
  { pods, signal }: { pods: number; signal: AbortSignal },
): Promise<Figures> {
  const members = fleet.recruit(ROLLOUT, pods);
  const { admin } = bench.remote.api;
  await inParallel(members, CONNECTIONS, (member) => createPod(admin, fleet.object(member)));
  try {
    return await rollout(
      bench,
      members.map((member) => addressChange(bench, fleet, member)),
      signal,
    );
  } finally {
    await inParallel(members, CONNECTIONS, (member) => deletePod(admin, member));
  }
}

/** The flags of ours, with its config file, and its health server at this port. */
async function flagsIn(
  { local, remotes, dir }: Place,
  { networkPolicies }: PolicyOptions,
  port: number,
): Promise<Readonly<Record<string, string>>> {
  const config = join(dir, 'remotes.json');
  const allowed = networkPolicies && { allowedPodCIDRs: ['10.0.0.0/8'] };
  await writeFile(config, JSON.stringify({ remotes: remotes.map((remote) => ({ ...remote, ...allowed })) }));
  return {
    'local-kube-config': local,
    config,
    // As in other programs. Without a fixed domain, and without sets, Pods of two domains are listed to choose one.
    'label-domain': 'semaphore.uw.systems',
    'network-policies': String(networkPolicies === true),
    'listen-address': `127.0.0.1:${port}`,
  };
}

function sizeFact({ pods, sets: setCount, encoding, remotes, ...options }: PolicyOptions, bare: Downloaded): string {
  const kilobytes = (bare.bytes / (remotes * pods) / 1000).toFixed(1);
  const format = encoding === 'json' ? 'JSON' : 'protobuf';
  const clusters = remotes === 1 ? '' : `${remotes} remote clusters, each of `;
  return options.networkPolicies
    ? `${pods} pods with ${options.labelSets} label sets, ${setCount} NetworkPolicies, ${kilobytes} kB a pod in ${format}`
    : `${clusters}${pods} pods in ${setCount} sets, ${kilobytes} kB each in ${format}`;
}
