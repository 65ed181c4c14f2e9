import type { BlockAffinity, IpamBlock } from '@kube-semaphore/kube-objects';
import { addressAt, type Cidr, compareCidrs, containsCidr, hostCidr, parseCidr } from '@kube-semaphore/net';
import type { Claim } from '../desired/conflicts.ts';
import { isCarried } from './own-blocks.ts';

/** A block that a Node has. */
export type NodeBlock = { readonly uid: string; readonly node: string; readonly cidr: Cidr };

/** What a Node has or borrows. */
export type NodeClaim = Claim & { readonly node: string };

/** Used addresses of a block that belongs to another Node, or to none; in order. */
export type BorrowedAddresses = {
  readonly uid: string;
  readonly borrowed: readonly { readonly node: string; readonly cidr: Cidr }[];
};

const HOST = 'host:';

/** The largest block of a Calico IPPool, by family: 4,096 addresses. Larger ones aren't Calico's. */
const SHORTEST_PREFIX = { 4: 20, 6: 116 };

/** Reads a BlockAffinity; undefined if it gives no Node a block. A pending one may still go to another node. */
export function readAffinity({ metadata, spec }: BlockAffinity): NodeBlock | undefined {
  const { cidr: raw, node, state, type, deleted } = spec;
  const isHosts = type === '' || type === 'host';
  if (state !== 'confirmed' || !isHosts || isDeleted(deleted) || node === '') return undefined;
  const cidr = parseCidr(raw);
  return cidr.ok ? { uid: metadata.uid, node, cidr: cidr.value } : undefined;
}

/**
 * Reads the borrowed addresses of an IPAMBlock. A node with full blocks borrows addresses from others, unless Calico's affinity
 * is strict; and a released block may still be in use. Addresses of services and of very old versions of Calico name no node, so
 * they are skipped.
 */
export function readBlock({ metadata, spec }: IpamBlock): BorrowedAddresses {
  const cidr = parseCidr(spec.cidr);
  const nothing = { uid: metadata.uid, borrowed: [] };
  if (!cidr.ok || isDeleted(spec.deleted) || !Array.isArray(spec.allocations)) return nothing;
  const { family, prefixLength } = cidr.value;
  if (prefixLength < SHORTEST_PREFIX[family]) return nothing;
  const size = 2 ** ((family === 4 ? 32 : 128) - prefixLength);
  const owner = spec.affinity.startsWith(HOST) ? spec.affinity.slice(HOST.length) : undefined;
  if (owner === undefined && spec.affinity !== '') return nothing;
  const borrowed = spec.allocations.slice(0, size).flatMap((attribute: unknown, ordinal) => {
    const node = typeof attribute === 'number' ? spec.attributes[attribute]?.secondary['node'] : undefined;
    const address = addressAt(cidr.value, ordinal);
    if (node === undefined || node === '' || node === owner || address === undefined) return [];
    return [{ node, cidr: { text: hostCidr(address), family, prefixLength: family === 4 ? 32 : 128 } }];
  });
  return { uid: metadata.uid, borrowed };
}

/** What one object of Calico's IPAM gives to Nodes: a block, or the addresses that they borrow. */
export const claimsOf = (object: NodeBlock | BorrowedAddresses): readonly NodeClaim[] =>
  'borrowed' in object
    ? object.borrowed.map((borrowed) => ({ ...borrowed, isBorrowed: true }))
    : [{ node: object.node, cidr: object.cidr, isBorrowed: false }];

/** What each Node has in Calico's IPAM, kept up to date object by object. */
export class CalicoClaims {
  readonly #podSubnets: readonly Cidr[];
  /** By the Node's name, then by the object that says so. */
  readonly #byNode = new Map<string, Map<string, Claim[]>>();

  /** @param podSubnets blocks outside of them are ignored, as a cluster may have pools that it doesn't share */
  constructor(podSubnets: readonly Cidr[]) {
    this.#podSubnets = podSubnets;
  }

  /**
   * Replaces the claims of an object. Addresses that no Pod can have are ignored.
   *
   * @param source the kind and name of the object
   * @param claims the former ones, and those of now
   */
  replace(
    source: string,
    { before, now }: { readonly before: readonly NodeClaim[]; readonly now: readonly NodeClaim[] },
  ): void {
    for (const { node } of before) {
      const own = this.#byNode.get(node);
      own?.delete(source);
      if (own?.size === 0) this.#byNode.delete(node);
    }
    for (const { node, ...claim } of now.filter(({ cidr }) => isCarried(cidr, this.#podSubnets))) {
      const own = this.#byNode.get(node) ?? new Map<string, Claim[]>();
      this.#byNode.set(node, own);
      const others = own.get(source);
      if (others === undefined) own.set(source, [claim]);
      else others.push(claim);
    }
  }

  /** The claims of a Node in order, none of them in another; undefined: it has none. */
  get(node: string): readonly Claim[] | undefined {
    const own = this.#byNode.get(node);
    return own && withoutParts([...own.values()].flat());
  }
}

/** Claims in order, without those in another: borrowed addresses of the Node's own block, and duplicates. */
function withoutParts(claims: readonly Claim[]): readonly Claim[] {
  // A claim comes after the one that contains it, and so does all in between: comparing with the last one is enough.
  let last: Claim | undefined;
  return claims.toSorted(byCidr).filter((claim) => {
    if (last !== undefined && containsCidr(last.cidr, claim.cidr)) return false;
    last = claim;
    return true;
  });
}

/** Of equal claims, the whole block comes first. */
const byCidr = (a: Claim, b: Claim): number =>
  compareCidrs(a.cidr.text, b.cidr.text) || Number(a.isBorrowed) - Number(b.isBorrowed);

const isDeleted = (deleted: unknown): boolean => deleted === true || deleted === 'true';
