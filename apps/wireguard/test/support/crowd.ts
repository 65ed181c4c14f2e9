import { addShamNode, newPublicKey } from './mesh-nodes.ts';
import type { MeshCluster, MeshNode } from './mesh.ts';

/** A Node of a crowd. */
export type CrowdNode = { readonly name: string; readonly publicKey: string; readonly endpoint: string };

/** How many are created at a time. */
const AT_ONCE = 20;

/** The addresses of the crowd's nodes: a range for benchmarks (RFC 2544). */
const UNDERLAY = '198.18.0.0/15';

/** A router that doesn't exist: one for all, as the kernel's neighbour table is small. */
const MISSING_ROUTER = '172.31.0.254';

/** Adds Nodes without machines, each with its own address, announced to c1. */
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

/** Routes a machine's packets for the crowd's nodes to the missing router. */
export async function routeNowhere({ machine }: MeshNode): Promise<void> {
  await machine.run('ip', ['-batch', '-'], {
    input: `neighbour add ${MISSING_ROUTER} lladdr 02:00:00:00:00:01 dev eth0 nud permanent\nroute add ${UNDERLAY} via ${MISSING_ROUTER}\n`,
  });
}
