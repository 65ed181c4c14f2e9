import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type Clusters, CONNECTIONS, type Rights, startClusters } from '../load/clusters.ts';
import { inParallel } from '../measure/pace.ts';
import type { WireGuardOptions } from '../options.ts';
import { type Contender, machineFacts, ours, type Place, runOnce, type Setting, type Trial } from '../phases/run.ts';
import type { Report, Round, Targets } from '../report/report.ts';
import { phasesOf } from './phases.ts';
import { LOCAL, nodeObject, POD_SUBNET, remoteNode } from './remote-nodes.ts';
import { METRICS_PORT, NODE, startStation } from './station.ts';

/** The deployed rights of semaphore-wireguard. */
export const rights: Rights = {
  remote: rulesOf(deployedRights('wireguard/remote')),
  local: rulesOf(deployedRights('wireguard/base')),
};

/**
 * The bench of semaphore-wireguard: in each round, a remote cluster with Nodes, a local one with a single Node, and the
 * agent of that, in its own network. No other program is measured.
 *
 * @throws {Error} if something is missing on this machine
 */
export async function benchWireGuard(options: WireGuardOptions, { launcher, say }: Setting): Promise<Report> {
  const { nodes, encoding, repeat } = options;
  const contender = ours(launcher, encoding, (place) => flagsIn(place));
  const rounds: Round[] = [];
  let server = '';
  for (let round = 1; round <= repeat; round++) {
    const sayRound = (what: string) => say(`round ${round} of ${repeat}: ${what}`);
    // New clusters, as an agent keeps its device, and each Node changes once.
    const clusters = await startClusters(options);
    ({ server } = clusters);
    try {
      rounds.push(await oneRound(clusters, contender, options, sayRound));
    } finally {
      await clusters.stop();
    }
  }
  const kilobytes = (Buffer.byteLength(JSON.stringify(nodeObject(remoteNode(0)))) / 1000).toFixed(1);
  return {
    facts: [
      `${nodes} remote nodes of ${kilobytes} kB of JSON each, read as ${encoding === 'json' ? 'JSON' : 'protobuf'}; no peer answers`,
      'wireguard-go carries the tunnels',
      ...machineFacts(repeat, server),
    ],
    columns: [{ name: contender.name, rounds }],
    targets: wireGuardTargets(options),
  };
}

async function oneRound(
  clusters: Clusters,
  { name, command }: Contender,
  options: WireGuardOptions,
  say: Setting['say'],
): Promise<Round> {
  say(`loading ${options.nodes} nodes`);
  const nodes = Array.from({ length: options.nodes }, (_, index) => remoteNode(index));
  const { admin } = clusters.remote.api;
  await inParallel(nodes, CONNECTIONS, (node) => admin.create('/api/v1/nodes', nodeObject(node)));
  const station = await startStation(clusters);
  const entrant = {
    name,
    command: async (place: Place) => station.commandLine(await command(place)),
    phases: (trial: Trial) => phasesOf({ clusters, station, nodes }, trial, options),
  };
  return runOnce(entrant, clusters, 'program', { rights, cleanUp: () => station.stop(), say });
}

/** The flags of an agent, with its config file. @param subnetOf the Pods of the remote with this index */
export async function flagsIn(
  { local, remotes, dir }: Place,
  subnetOf: (index: number) => string = () => POD_SUBNET,
): Promise<Readonly<Record<string, string>>> {
  const config = join(dir, 'clusters.json');
  const links = remotes.map((remote, index) => {
    return { ...remote, podSubnet: subnetOf(index), wgListenPort: 51_822 + index, wgDeviceMTU: 1380 };
  });
  await writeFile(config, JSON.stringify({ local: { name: LOCAL, kubeConfigPath: local }, remotes: links }));
  return {
    'clusters-config': config,
    'node-name': NODE,
    'wg-key-path': join(dir, 'keys'),
    // The same on all machines, also if the kernel has WireGuard.
    userspace: 'always',
    'listen-address': `127.0.0.1:${METRICS_PORT}`,
  };
}

/** Exported for its test. */
export function wireGuardTargets({ nodes }: Pick<WireGuardOptions, 'nodes'>): Targets {
  const memoryMb = nodes === 1000 ? 65 : undefined;
  return {
    'start: peak memory': memoryMb,
    'settled memory': memoryMb,
    'scrapes: most memory after one': memoryMb,
    'scrapes: memory after the last': memoryMb,
    'one change: calls of wg set': 1,
    'one change: peers in a call': 1,
    'restart: calls of wg set': 0,
    'peak memory of all phases': memoryMb,
    'idle: CPU of one core': 0.5,
  };
}
