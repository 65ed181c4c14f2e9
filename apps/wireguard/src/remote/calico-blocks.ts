import type { BlockAffinity, IpamBlock } from '@kube-semaphore/kube-objects';
import { addressAt, type Cidr, compareCidrs, containsCidr, hostCidr, parseCidr } from '@kube-semaphore/net';
import type { Claim } from '../desired/conflicts.ts';

/** A block that a Node has. */
export type NodeBlock = { readonly uid: string; readonly node: string; readonly cidr: Cidr };

/** Addresses in use out of a block whose Node is another, or none; `borrowed` in the order of the addresses. */
export type BorrowedAddresses = {
  readonly uid: string;
  readonly borrowed: readonly { readonly node: string; readonly cidr: Cidr }[];
};

const HOST = 'host:';

/** The largest block that Calico lets an IPPool have, by family: 4,096 addresses. What claims more isn't Calico's. */
const SHORTEST_PREFIX = { 4: 20, 6: 116 };

/**
 * Reads a BlockAffinity. Only confirmed ones count: a pending one may still be decided for another node.
 *
 * @returns undefined if it gives no Node a block
 */
export function readAffinity({ metadata, spec }: BlockAffinity): NodeBlock | undefined {
  const { cidr: raw, node, state, type, deleted } = spec;
  const isHosts = type === '' || type === 'host';
  if (state !== 'confirmed' || !isHosts || isDeleted(deleted) || node === '') return undefined;
  const cidr = parseCidr(raw);
  return cidr.ok ? { uid: metadata.uid, node, cidr: cidr.value } : undefined;
}

/**
 * Reads the borrowed addresses of an IPAMBlock. A node without room borrows from other nodes' blocks, one by one, unless
 * Calico is told to be strict; and a block that its node gave up may still be in use. Addresses of services, and those
 * that very old versions of Calico gave out, say no node: nobody can tell where they are.
 */
export function readBlock({ metadata, spec }: IpamBlock): BorrowedAddresses {
  const cidr = parseCidr(spec.cidr);
  const nobody = { uid: metadata.uid, borrowed: [] };
  if (!cidr.ok || isDeleted(spec.deleted) || !Array.isArray(spec.allocations)) return nobody;
  const { family, prefixLength } = cidr.value;
  if (prefixLength < SHORTEST_PREFIX[family]) return nobody;
  const size = 2 ** ((family === 4 ? 32 : 128) - prefixLength);
  const owner = spec.affinity.startsWith(HOST) ? spec.affinity.slice(HOST.length) : undefined;
  if (owner === undefined && spec.affinity !== '') return nobody;
  const borrowed = spec.allocations.slice(0, size).flatMap((attribute: unknown, ordinal) => {
    const node = typeof attribute === 'number' ? spec.attributes[attribute]?.secondary['node'] : undefined;
    const address = addressAt(cidr.value, ordinal);
    if (node === undefined || node === '' || node === owner || address === undefined) return [];
    return [{ node, cidr: { text: hostCidr(address), family, prefixLength: family === 4 ? 32 : 128 } }];
  });
  return { uid: metadata.uid, borrowed };
}

/**
 * What each Node has by Calico's books: its blocks, and the addresses that it borrows.
 *
 * @param podSubnets other blocks are passed over: a cluster may have more pools than it shares
 * @returns by the Node's name; the claims of each in order, and none in another
 */
export function calicoClaims(
  affinities: Iterable<NodeBlock>,
  blocks: Iterable<BorrowedAddresses>,
  podSubnets: readonly Cidr[],
): ReadonlyMap<string, readonly Claim[]> {
  const claims = new Map<string, Claim[]>();
  const claim = (node: string, cidr: Cidr, isBorrowed: boolean) => {
    if (!podSubnets.some((subnet) => containsCidr(subnet, cidr))) return;
    const others = claims.get(node);
    if (others === undefined) claims.set(node, [{ cidr, isBorrowed }]);
    else others.push({ cidr, isBorrowed });
  };
  for (const { node, cidr } of affinities) claim(node, cidr, false);
  for (const { borrowed } of blocks) for (const { node, cidr } of borrowed) claim(node, cidr, true);
  return new Map([...claims].map(([node, own]) => [node, withoutParts(own)]));
}

/** Claims in order, without those that another holds: what is borrowed out of one's own block, or told of twice. */
function withoutParts(claims: readonly Claim[]): readonly Claim[] {
  // What holds a claim comes before it, and whatever lies between them is held, too: so the last one kept decides.
  let last: Claim | undefined;
  return claims.toSorted(byCidr).filter((claim) => {
    if (last !== undefined && containsCidr(last.cidr, claim.cidr)) return false;
    last = claim;
    return true;
  });
}

/** Of equal ones, the whole block comes first. */
const byCidr = (a: Claim, b: Claim): number =>
  compareCidrs(a.cidr.text, b.cidr.text) || Number(a.isBorrowed) - Number(b.isBorrowed);

const isDeleted = (deleted: unknown): boolean => deleted === true || deleted === 'true';
