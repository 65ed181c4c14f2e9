import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { ipamCrds } from '@kube-semaphore/testkit';

/** A block of addresses in Calico's books. */
export type Block = {
  readonly cidr: string;
  /** Whose it is. */
  readonly node: string;
  /** Which Node's Pods have addresses of it, by the address's number in the block: its own, or one that borrows. */
  readonly uses: Readonly<Record<number, string>>;
};

const API = '/apis/crd.projectcalico.org/v1';
const apiVersion = 'crd.projectcalico.org/v1';

const nameOf = (cidr: string): string => cidr.replaceAll(/[.:/]+/g, '-');

/** Lets a cluster have Calico's books. */
export async function defineBooks(cluster: TestCluster): Promise<void> {
  for (const crd of ipamCrds()) await cluster.defineResource(crd);
}

/** Adds a block as Calico's IPAM does. */
export async function addBlock({ admin }: TestCluster, { cidr, node, uses }: Block): Promise<void> {
  const affinity = { cidr, node, state: 'confirmed', deleted: 'false' };
  await admin.create(`${API}/blockaffinities`, {
    apiVersion,
    kind: 'BlockAffinity',
    metadata: { name: `${node}-${nameOf(cidr)}` },
    spec: affinity,
  });
  const spec = { cidr, affinity: `host:${node}`, ...allocationsOf(uses) };
  await admin.create(`${API}/ipamblocks`, { apiVersion, kind: 'IPAMBlock', metadata: { name: nameOf(cidr) }, spec });
}

/** Lets a block's addresses be of other Nodes' Pods, or of none. @throws {Error} if the API server refuses */
export async function useBlock({ admin }: TestCluster, { cidr, uses }: Pick<Block, 'cidr' | 'uses'>): Promise<void> {
  const { status } = await admin.request('PATCH', `${API}/ipamblocks/${nameOf(cidr)}`, { spec: allocationsOf(uses) });
  if (status !== 200) throw new Error(`the block ${cidr} can't be changed: ${status}`);
}

/** Each address has the number of its attributes, or null. */
function allocationsOf(uses: Block['uses']) {
  const nodes = Object.entries(uses);
  const allocations: (number | null)[] = Array.from({ length: 64 }, () => null);
  for (const [i, [ordinal]] of nodes.entries()) allocations[Number(ordinal)] = i;
  return { allocations, attributes: nodes.map(([, node]) => ({ secondary: { node } })) };
}
