import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { ipamCrds } from '@kube-semaphore/testkit';

/** A block of addresses in Calico's IPAM. */
export type Block = {
  readonly cidr: string;
  /** Its owner. */
  readonly node: string;
  /** The Node of each used address, by the address's number in the block: the owner, or one that borrows. */
  readonly uses: Readonly<Record<number, string>>;
};

const API = '/apis/crd.projectcalico.org/v1';
const apiVersion = 'crd.projectcalico.org/v1';

const nameOf = (cidr: string): string => cidr.replaceAll(/[.:/]+/g, '-');

/** Defines the resources of Calico's IPAM. */
export async function defineIpam(cluster: TestCluster): Promise<void> {
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

/** Changes the used addresses of a block. @throws {Error} if the API server refuses */
export async function useBlock({ admin }: TestCluster, { cidr, uses }: Pick<Block, 'cidr' | 'uses'>): Promise<void> {
  const { status } = await admin.request('PATCH', `${API}/ipamblocks/${nameOf(cidr)}`, { spec: allocationsOf(uses) });
  if (status !== 200) throw new Error(`the block ${cidr} can't be changed: ${status}`);
}

/** Each address has the index of its attributes, or null. */
function allocationsOf(uses: Block['uses']) {
  const nodes = Object.entries(uses);
  const allocations: (number | null)[] = Array.from({ length: 64 }, () => null);
  for (const [i, [ordinal]] of nodes.entries()) allocations[Number(ordinal)] = i;
  return { allocations, attributes: nodes.map(([, node]) => ({ secondary: { node } })) };
}
