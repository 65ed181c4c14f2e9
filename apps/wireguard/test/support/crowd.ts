import { addShamNode, newPublicKey } from './mesh-nodes.ts';
import type { MeshCluster, MeshNode } from './mesh.ts';

/** A Node of a crowd: its name, its key, and where it is. */
export type CrowdNode = { readonly name: string; readonly publicKey: string; readonly endpoint: string };

/** So many are made at a time. */
const AT_ONCE = 20;

/** Where the crowd's nodes are: a range that is kept for benchmarks (RFC 2544). */
const UNDERLAY = '198.18.0.0/15';

/** A router of the network that isn't there: one for all, as the kernel knows few neighbours. */
const NOBODY = '172.31.0.254';

/** Adds so many Nodes that no machine stands behind, each at an address of its own, announced to c1. */
export async function addCrowd(cluster: MeshCluster, count: number): Promise<readonly CrowdNode[]> {
  const crowd = Array.from({ length: count }, (_, index) => ({
    name: `crowd-${index}`,
    publicKey: newPublicKey(),
    endpoint: `198.18.${index >> 8}.${index & 255}:51820`,
    // The machines have the blocks from 1 on.
    podCIDRs: [cluster.podSubnets[1].replace('::/48', `:0:${(0x1000 + index).toString(16)}::/64`)],
  }));
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(crowd.slice(from, from + AT_ONCE).map((node) => addShamNode(cluster, node)));
  }
  return crowd;
}

/** Lets a machine send packets to a crowd's nodes, which come to nothing. */
export async function leadNowhere({ machine }: MeshNode): Promise<void> {
  await machine.run('ip', ['-batch', '-'], {
    input: `neighbour add ${NOBODY} lladdr 02:00:00:00:00:01 dev eth0 nud permanent\nroute add ${UNDERLAY} via ${NOBODY}\n`,
  });
}
