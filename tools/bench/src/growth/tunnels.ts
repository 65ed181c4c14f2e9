import { readdir, readFile, readlink } from 'node:fs/promises';
import { type Clusters, requestsTo, startClusters } from '../load/clusters.ts';
import { rangeOf } from '../many-remotes/shop.ts';
import type { Program } from '../measure/program.ts';
import { total } from '../measure/requests.ts';
import { socketsOf, usageAfter, usageOf } from '../measure/usage.ts';
import { ours, type Place, runOnce, type Setting, type Trial } from '../phases/run.ts';
import type { Figures, Round } from '../report/report.ts';
import { changes, when } from '../wireguard/phases.ts';
import { nodeObject, type RemoteNode, remoteNode } from '../wireguard/remote-nodes.ts';
import { type Station, startStation } from '../wireguard/station.ts';
import { flagsIn, rights } from '../wireguard/wireguard.ts';

/** Of each remote, at 100 percent: 25,000 of 250 remotes. */
const NODES = 100;

/** One after the other. */
const MOST_CHANGES = 20;

const INSTANCES_OF_OTHERS = 20;

type Size = { readonly percent: number; readonly changes: number; readonly settle: number };

/** An agent with a device for each remote. There is no traffic. */
export async function measureTunnels(remotes: number, { launcher, say, ...size }: Size & Setting): Promise<Round> {
  await checkInotify(remotes);
  const clusters = await startClusters({ embedded: true }, remotes);
  try {
    const nodes = nodesOf(remotes, Math.ceil((NODES * size.percent) / 100));
    for (const [remote, { api }] of clusters.remotes.entries())
      if (api.kind === 'embedded') api.seed(nodes[remote]!.map(nodeObject));
    const station = await startStation(clusters);
    const { name, command } = ours(launcher, 'auto', (place) => flagsIn(place, rangeOf));
    const entrant = {
      name,
      command: async (place: Place) => station.commandLine(await command(place)),
      phases: (trial: Trial) => phases({ clusters, station, nodes }, trial, size),
    };
    return await runOnce(entrant, clusters, 'program', { rights, cleanUp: () => station.stop(), say });
  } finally {
    await clusters.stop();
  }
}

/** Each wireguard-go has an instance of inotify. Without one, it makes no device. @throws if the others leave too few */
async function checkInotify(remotes: number): Promise<void> {
  const needed = remotes + INSTANCES_OF_OTHERS;
  const there = Number(await readFile('/proc/sys/fs/inotify/max_user_instances', 'utf8'));
  if (there < needed)
    throw new Error(`${remotes} wireguard-go need \`sysctl fs.inotify.max_user_instances=${needed}\`; it is ${there}`);
}

type World = {
  readonly clusters: Clusters;
  readonly station: Station;
  /** Of each remote. */
  readonly nodes: readonly (readonly RemoteNode[])[];
};

async function* phases(
  { clusters, station, nodes }: World,
  { account, start, say }: Trial,
  size: Size,
): AsyncGenerator<Figures, void> {
  say('until all peers are set');
  const program = start();
  const count = nodes.flat().length;
  // The port isn't open at first.
  const isReady = async () => (await station.ask('/readyz').catch(() => undefined))?.status === 200;
  await when(isReady, program);
  const allAtMs = await when(async () => (await station.peers()).length === count, program);
  const { cpuSeconds } = await usageOf(program.pid);
  yield {
    'all written after': [(allAtMs - program.startedAtMs) / 1000, 's'],
    'CPU until then': [cpuSeconds, 's'],
    'requests until then': [total(await requestsTo([clusters.local, ...clusters.remotes], account))],
    'longest turn until then': [1000 * (await longestLag(station)), 'ms'],
  };
  const { residentMb } = await usageAfter(size.settle, program);
  yield {
    sockets: [await socketsOf(program.pid)],
    'settled memory': [residentMb, 'MB'],
    'memory of all wireguard-go': [await memoryOfTunnels(program), 'MB'],
  };
  const changed = nodes[0]!.slice(0, Math.min(MOST_CHANGES, size.changes));
  if (changed.length > 0) {
    say(`${changed.length} changes`);
    yield changes(station, clusters, program, changed);
  }
  yield { 'peak memory': [(await usageOf(program.pid)).peakMb, 'MB'] };
}

/** Nodes of each remote, with blocks and endpoints of its own. */
function nodesOf(remotes: number, count: number): readonly (readonly RemoteNode[])[] {
  return Array.from({ length: remotes }, (_, remote) =>
    Array.from({ length: count }, (_, index) => ({
      ...remoteNode(remote * count + index),
      podCidr: `11.${remote}.${index}.0/24`,
      endpoint: `198.18.${remote}.${index}:51820`,
      nextEndpoint: `198.19.${remote}.${index}:51820`,
    })),
  );
}

/** In seconds, since the last call: as the agent's event loop is sampled every 100 ms, with the waits for a core. */
async function longestLag(station: Station): Promise<number> {
  const { body } = await station.ask('/metrics');
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(body)?.[1]);
}

/** Of the processes in the network of the agent, but the agent. */
export async function memoryOfTunnels(program: Program): Promise<number> {
  const networkOf = (pid: number) => readlink(`/proc/${pid}/ns/net`).catch(() => undefined);
  const own = await networkOf(program.pid);
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== program.pid);
  let sum = 0;
  for (const pid of pids) if ((await networkOf(pid)) === own) sum += (await usageOf(pid)).residentMb;
  return sum;
}
