import { dirname } from 'node:path';
import { deviceName } from '@kube-semaphore/wireguard/names';
import { node } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, recordCalls, type RecordedCalls, startNetwork } from '@kube-semaphore/testnet';
import { clusterName, type Clusters } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { UNDERLAY } from './remote-nodes.ts';

/** The agent's device. */
const DEVICE = deviceName(clusterName(0));

/** The agent's port in its own network. */
export const METRICS_PORT = 7773;

/** A router that doesn't exist. */
const NO_ROUTER = '172.31.0.254';

/** A shell script that sends a GET request to the agent from its network. */
const ASK = 'exec 3<>/dev/tcp/127.0.0.1/$0 && printf "GET $1 HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3';

/** The Node of the agent: its own network, which reaches only the API servers. */
export class Station {
  static readonly node = 'n1';
  readonly #network: Network;
  readonly #machine: NetworkNode;
  readonly #calls: RecordedCalls;
  readonly #path: string;

  private constructor(network: Network, machine: NetworkNode, calls: RecordedCalls, wireGuardGo: string) {
    this.#network = network;
    this.#machine = machine;
    this.#calls = calls;
    // Launchers search "node" in PATH, too.
    this.#path = [calls.folder, dirname(wireGuardGo), dirname(process.execPath), process.env['PATH']].join(':');
  }

  /** Makes the network, and the agent's Node in the local cluster. */
  static async start({ local, remotes }: Pick<Clusters, 'local' | 'remotes'>, wireGuardGo: string): Promise<Station> {
    const network = await startNetwork([Station.node]);
    try {
      const machine = network.node(Station.node);
      for (const { api } of [local, ...remotes]) await machine.forward(Number(new URL(api.url).port));
      // Packets to peers are lost. One router for all, as the kernel limits neighbours.
      await machine.run('ip', ['-batch', '-'], {
        input: `neighbour add ${NO_ROUTER} lladdr 02:00:00:00:00:01 dev eth0 nud permanent\nroute add ${UNDERLAY} via ${NO_ROUTER}\n`,
      });
      await local.api.admin.create(
        '/api/v1/nodes',
        node({ name: Station.node, podCIDRs: ['10.2.1.0/24'], internalIPs: [machine.ipv4] }),
      );
      return new Station(network, machine, await recordCalls('wg', local.api.dir), wireGuardGo);
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  /** Runs the program in this network. */
  carrying({ name, command }: Contender): Contender {
    return {
      name,
      command: async (targets) => {
        const [file, args] = this.#machine.commandLine('env', [`PATH=${this.#path}`, ...(await command(targets))]);
        return [file, ...args];
      },
    };
  }

  /** The endpoints of all peers by public key; empty without a device. */
  async endpoints(): Promise<ReadonlyMap<string, string>> {
    const text = await this.#machine.run('wg', ['show', DEVICE, 'endpoints']).catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => line.split('\t', 2) as [key: string, endpoint: string]));
  }

  /** The peers in each `wg set` of the agent since the last call, in no order. */
  async setCalls(): Promise<readonly (readonly string[])[]> {
    const calls = (await this.#calls.take()).filter(([verb]) => verb === 'set');
    return calls.map((words) => words.filter((_, index) => words[index - 1] === 'peer'));
  }

  /** The agent's answer, with status line and headers. */
  async ask(path: '/readyz' | '/metrics'): Promise<string> {
    return this.#machine.run('bash', ['-c', ASK, String(METRICS_PORT), path]);
  }

  /** Stops all its processes, also wireguard-go. */
  stop(): Promise<void> {
    return this.#network.stop();
  }
}
