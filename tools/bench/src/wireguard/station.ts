import { accessSync } from 'node:fs';
import { dirname } from 'node:path';
import { findBinaries, node } from '@kube-semaphore/testkit';
import { ask, type NetworkNode, recordCalls, type RecordedCalls, startNetwork } from '@kube-semaphore/testnet';
import { deviceName } from '@kube-semaphore/wireguard/names';
import { clusterName, type Clusters } from '../load/clusters.ts';
import { UNDERLAY } from './remote-nodes.ts';

/** The agent's Node, and its port there. */
export const NODE = 'n1';
export const METRICS_PORT = 7773;

/** The agent's device. */
const DEVICE = deviceName(clusterName(0));

/** A router that doesn't exist. */
const ROUTER = '172.31.0.254';

/** The Node of the agent: its own network, which reaches only the API servers. */
export type Station = {
  /** The command line that runs a program in this network. */
  readonly commandLine: (command: readonly string[]) => readonly string[];
  /** The endpoints of all peers by public key; empty without a device. */
  readonly endpoints: () => Promise<ReadonlyMap<string, string>>;
  /** The public keys of the peers of all devices. */
  readonly peers: () => Promise<readonly string[]>;
  /** The peers in each `wg set` of the agent since the last call, in no order. */
  readonly setCalls: () => Promise<readonly (readonly string[])[]>;
  /** The agent's answer. Rejects while its port isn't open. */
  readonly ask: (path: '/readyz' | '/metrics' | '/status') => ReturnType<typeof ask>;
  /** Stops all its processes, also wireguard-go. */
  readonly stop: () => Promise<void>;
};

/**
 * Makes the network, and the agent's Node in the local cluster.
 *
 * @throws {Error} without root, /dev/net/tun, wireguard-go, wg or ip
 */
export async function startStation({ local, remotes }: Clusters): Promise<Station> {
  accessSync('/dev/net/tun');
  const found = findBinaries(['wireguard-go']);
  if (!found.ok) throw new Error(found.reason);
  const network = await startNetwork([NODE]);
  try {
    const machine = network.node(NODE);
    for (const { api } of [local, ...remotes]) await machine.forward(Number(new URL(api.url).port));
    // Packets to peers are lost. One router for all, as the kernel limits neighbours.
    await machine.run('ip', ['-batch', '-'], {
      input: `neighbour add ${ROUTER} lladdr 02:00:00:00:00:01 dev eth0 nud permanent\nroute add ${UNDERLAY} via ${ROUTER}\n`,
    });
    const object = node({ name: NODE, podCIDRs: ['10.2.1.0/24'], internalIPs: [machine.ipv4] });
    await local.api.admin.create('/api/v1/nodes', object);
    await machine.run('wg', ['--version']);
    const calls = await recordCalls('wg', local.api.dir);
    return stationOf(machine, calls, { wireGuardGo: found.paths['wireguard-go'], stop: () => network.stop() });
  } catch (error) {
    await network.stop();
    throw error;
  }
}

function stationOf(
  machine: NetworkNode,
  calls: RecordedCalls,
  { wireGuardGo, stop }: { wireGuardGo: string; stop: () => Promise<void> },
): Station {
  // Launchers search "node" in PATH, too.
  const path = [calls.folder, dirname(wireGuardGo), dirname(process.execPath), process.env['PATH']].join(':');
  return {
    commandLine: (command) => machine.commandLine('env', [`PATH=${path}`, ...command]).flat(),
    endpoints: async () => {
      const text = await machine.run('wg', ['show', DEVICE, 'endpoints']).catch(() => '');
      const lines = text.split('\n').filter((line) => line !== '');
      return new Map(lines.map((line) => line.split('\t', 2) as [key: string, endpoint: string]));
    },
    peers: async () => {
      const lines = (await machine.run('wg', ['show', 'all', 'endpoints'])).split('\n').slice(0, -1);
      // Only the first line of a device has its name.
      return lines.map((line) => line.split('\t').at(-2)!);
    },
    setCalls: async () => {
      const sets = (await calls.take()).filter(([verb]) => verb === 'set');
      return sets.map((words) => words.filter((_, index) => words[index - 1] === 'peer'));
    },
    ask: (asked) => ask(machine, METRICS_PORT, asked),
    stop,
  };
}
