import { Namespace, type Place } from './namespace.ts';
import { type NetworkNode, Node } from './node.ts';

/** Nodes on one Ethernet, as machines in a rack. Everything about it is gone after `stop()`, or when this process is. */
export interface Network {
  /** @throws {Error} if there is no node of this name */
  node(name: string): NetworkNode;
  /** Adds a node. Its name has 15 characters at most. */
  addNode(name: string): Promise<NetworkNode>;
  /** The Ethernet itself, with a link for each node, which is named after it. */
  readonly underlay: Place;
  /** Kills what runs on the nodes and removes them. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Makes nodes out of network namespaces. It takes root and iproute2.
 *
 * @param names one for each node
 * @throws {Error} with the words of what refused to work
 */
export async function startNetwork(names: readonly string[] = []): Promise<Network> {
  const underlay = await Namespace.make();
  const nodes = new Map<string, Node>();
  let count = 0;
  const network: Network = {
    underlay,
    node: (name) => {
      const node = nodes.get(name);
      if (node === undefined) throw new Error(`no node ${name}`);
      return node;
    },
    addNode: async (name) => {
      count++;
      const node = await Node.make(name, count, underlay);
      nodes.set(name, node);
      return node;
    },
    stop: async () => {
      await Promise.all([...nodes.values()].map((node) => node.stop()));
      await underlay.close();
    },
  };
  try {
    await underlay.run('ip', ['-batch', '-'], {
      input: 'link add dev br0 type bridge mcast_snooping 0\nlink set dev br0 up\n',
    });
    await Promise.all(names.map((name) => network.addNode(name)));
    return network;
  } catch (error) {
    await network.stop();
    throw error;
  }
}
