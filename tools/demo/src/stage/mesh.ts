import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { deviceName } from '@kube-semaphore/naming';
import type { NetworkNode, Place } from '@kube-semaphore/testnet';
import { type PreparedAgent, prepareAgent } from './agent.ts';
import type { App } from './app.ts';
import type { Backstage } from './backstage.ts';
import { runWord } from './program.ts';
import { createNode, nodesPath, type Site } from './site.ts';

/** A node of a cluster that really is one: a machine on a network, with a pod. */
export type MeshNode = {
  readonly site: Site;
  readonly remote: Site;
  readonly machine: NetworkNode;
  readonly pod: Place;
  readonly agent: PreparedAgent;
};

/** Who makes the nodes, and what happens when their agents end by themselves. */
export type MeshOptions = {
  readonly backstage: Backstage;
  readonly sites: readonly [Site, Site];
  readonly onFailure: (error: Error) => void;
  readonly signal: AbortSignal;
};

/** A node in each of two clusters, as network namespaces on one Ethernet, which reach both API servers. */
export class Mesh {
  readonly #options: MeshOptions;
  #nodes: readonly [MeshNode, MeshNode] | undefined;
  /** Of agents, each of which has a log of its own. */
  #starts = 0;

  constructor(options: MeshOptions) {
    this.#options = options;
  }

  /** Whether `build()` has made the nodes. */
  get isBuilt(): boolean {
    return this.#nodes !== undefined;
  }

  /**
   * The nodes, in the order of their clusters.
   *
   * @throws {Error} before `build()` has resolved
   */
  get nodes(): readonly [MeshNode, MeshNode] {
    if (this.#nodes === undefined) throw new Error('there is no mesh yet');
    return this.#nodes;
  }

  /** Makes the machines and the Nodes; no agents. @throws {Error} with the words of what refused to work */
  async build(): Promise<void> {
    const { backstage, sites } = this.#options;
    const network = await backstage.startNetwork();
    const add = async (site: Site, remote: Site): Promise<MeshNode> => {
      const { name, podIps } = site.node;
      const machine = await network.addNode(name);
      const ports = sites.map(({ server }) => Number(new URL(server.url).port));
      const [pod, agent] = await Promise.all([
        machine.addPod([podIps.v4, podIps.v6]),
        prepareAgent(site, remote),
        ...ports.map((port) => machine.forward(port)),
      ]);
      const node = { site, remote, machine, pod, agent };
      await createNode(site, addressesOf(node));
      return node;
    };
    const [one, other] = sites;
    this.#nodes = await Promise.all([add(one, other), add(other, one)]);
  }

  /** Starts the agent of a node. */
  startAgent({ site, machine, agent: { invocation } }: MeshNode, path: string): App {
    const { backstage, onFailure } = this.#options;
    this.#starts += 1;
    const log = join(site.server.dir, `semaphore-wireguard-${this.#starts}.log`);
    return backstage.startApp({ ...invocation, place: machine, path, cluster: site.name, log, onDeath: onFailure });
  }

  /** What `semaphore-wireguard status` prints on a node. */
  async status({ machine, agent: { invocation } }: MeshNode, path: string): Promise<readonly string[]> {
    const { lines } = await runWord({ ...invocation, word: 'status', place: machine, path }, this.#options);
    return lines;
  }

  /** Waits until the device of a node, as `wg` shows it, has so many peers. */
  async peers({ machine, remote }: MeshNode, count: number): Promise<void> {
    const device = deviceName(remote.name);
    await eventually(async () => {
      this.#options.signal.throwIfAborted();
      const keys = await machine.run('wg', ['show', device, 'peers']);
      return keys.split('\n').filter((key) => key !== '').length === count;
    }, true, { what: `${count} peers of ${device} on ${machine.name}`, timeoutMs: 15_000 });
  }

  /** A node leaves its cluster: its Node is deleted. */
  async remove({ site }: MeshNode): Promise<void> {
    await site.server.admin.delete(`${nodesPath}/${site.node.name}`);
  }

  /** It comes back, as it was. */
  async restore(node: MeshNode): Promise<void> {
    await createNode(node.site, addressesOf(node));
  }
}

const addressesOf = ({ machine: { ipv4, ipv6 } }: Pick<MeshNode, 'machine'>) => ({ internalIPs: [ipv4, ipv6] });
