import { dirname } from 'node:path';
import { deviceName } from '@kube-semaphore/wireguard/names';
import { node } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, recordCalls, type RecordedCalls, startNetwork } from '@kube-semaphore/testnet';
import { clusterName, type Clusters } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { UNDERLAY } from './remote-nodes.ts';

/** The agent's device. */
const DEVICE = deviceName(clusterName(0));

/** Where the agent listens; nobody else is in its network. */
export const METRICS_PORT = 7773;

/** A router of the network that isn't there. */
const NOBODY = '172.31.0.254';

/** Asks the agent for a path, from within its network. */
const ASK = 'exec 3<>/dev/tcp/127.0.0.1/$0 && printf "GET $1 HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3';

/** The Node that the agent runs on: a network of its own, from which the API servers are reached, and nobody else. */
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
    // Launchers look for "node" in PATH, too.
    this.#path = [calls.folder, dirname(wireGuardGo), dirname(process.execPath), process.env['PATH']].join(':');
  }

  /** Makes the network, and the agent's Node in the local cluster. */
  static async start({ local, remotes }: Pick<Clusters, 'local' | 'remotes'>, wireGuardGo: string): Promise<Station> {
    const network = await startNetwork([Station.node]);
    try {
      const machine = network.node(Station.node);
      for (const { api } of [local, ...remotes]) await machine.forward(Number(new URL(api.url).port));
      // Packets to peers go, and come to nothing: a router for all, as the kernel knows few neighbours.
      await machine.run('ip', ['-batch', '-'], {
        input: `neighbour add ${NOBODY} lladdr 02:00:00:00:00:01 dev eth0 nud permanent\nroute add ${UNDERLAY} via ${NOBODY}\n`,
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

  /** The same program, in this network. */
  carrying({ name, command }: Contender): Contender {
    return {
      name,
      command: async (targets) => {
        const [file, args] = this.#machine.commandLine('env', [`PATH=${this.#path}`, ...(await command(targets))]);
        return [file, ...args];
      },
    };
  }

  /** The endpoints of all peers, by public key; none while there is no device. */
  async endpoints(): Promise<ReadonlyMap<string, string>> {
    const text = await this.#machine.run('wg', ['show', DEVICE, 'endpoints']).catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => line.split('\t', 2) as [key: string, endpoint: string]));
  }

  /** The peers that each `wg set` of the agent named since this was last asked, in no order. */
  async setCalls(): Promise<readonly (readonly string[])[]> {
    const calls = (await this.#calls.take()).filter(([verb]) => verb === 'set');
    return calls.map((words) => words.filter((_, index) => words[index - 1] === 'peer'));
  }

  /** What the agent answers; its status line and headers come first. */
  async ask(path: '/readyz' | '/metrics'): Promise<string> {
    return this.#machine.run('bash', ['-c', ASK, String(METRICS_PORT), path]);
  }

  /** Ends what still runs in it, wireguard-go as well. */
  stop(): Promise<void> {
    return this.#network.stop();
  }
}
