import { Namespace, type Place } from './namespace.ts';
import { type NetworkNode, Node } from './node.ts';

/** Nodes on one Ethernet, like machines in a rack. `stop()`, or the end of this process, removes all of it. */
export interface Network {
  /** @throws {Error} if there is no node with this name */
  node(name: string): NetworkNode;
  /** Adds a node. Its name has 15 characters at most. */
  addNode(name: string): Promise<NetworkNode>;
  /** The Ethernet itself, with a link for each node, which is named after it. */
  readonly underlay: Place;
  /** Kills the nodes' processes and removes the nodes. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Creates nodes from network namespaces. Needs root and iproute2.
 *
 * @param names one for each node
 * @throws {Error} with the message of the command that failed
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
