import ipaddr from 'ipaddr.js';
import { type Cidr, contains } from './cidr.ts';
import { newGroups, readGroups } from './groups.ts';
import { compareCidrs } from './order.ts';

// Scratch space of `addressAt`.
const groups = newGroups();

/** Whether `outer` has all addresses of `inner`. Families never mix: `::/0` has no IPv4 block. */
export function containsCidr(outer: Cidr, inner: Cidr): boolean {
  return inner.prefixLength >= outer.prefixLength && contains(outer, inner.text);
}

/** Whether two blocks have an address in common; one of them is then inside the other. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return containsCidr(a, b) || containsCidr(b, a);
}

/**
 * Of each block that is inside another one, or equal to it, that block and the nearest such: the earlier one of the list first. Blocks
 * never cross, so a sorted list shows it in one pass: an object of others may have thousands.
 *
 * @param counts whether two blocks may not overlap. Default: no two may
 * @returns in the order of the later ones
 */
export function overlappingBlocks<T extends { readonly cidr: Cidr }>(
  blocks: readonly T[],
  counts: (one: T, other: T) => boolean = () => true,
): readonly (readonly [earlier: T, later: T])[] {
  const places = new Map(blocks.map((block, i) => [block, i]));
  const placeOf = (block: T): number => places.get(block)!;
  const open: T[] = [];
  const found: (readonly [T, T])[] = [];
  for (const inner of blocks.toSorted((a, b) => compareCidrs(a.cidr.text, b.cidr.text))) {
    while (open.length > 0 && !containsCidr(open.at(-1)!.cidr, inner.cidr)) open.pop();
    const outer = open.findLast((each) => counts(each, inner));
    if (outer !== undefined) found.push(placeOf(outer) < placeOf(inner) ? [outer, inner] : [inner, outer]);
    open.push(inner);
  }
  return found.toSorted(([, a], [, b]) => placeOf(a) - placeOf(b));
}

/**
 * An address of a block by its number, from 0.
 *
 * @returns the canonical text; undefined if the block has no such number
 */
export function addressAt({ text, family, prefixLength }: Cidr, ordinal: number): string | undefined {
  const size = 2 ** ((family === 4 ? 32 : 128) - prefixLength);
  if (!Number.isSafeInteger(ordinal) || ordinal < 0 || ordinal >= size) return undefined;
  readGroups(text, groups);
  let carry = ordinal;
  for (let i = 7; carry > 0; i--) {
    carry += groups[i] ?? 0;
    groups[i] = carry % 65_536;
    carry = Math.floor(carry / 65_536);
  }
  return textOf(family);
}

/** The two halves of a block; undefined for one address. */
export function halvesOf({ text, family, prefixLength }: Cidr): readonly [Cidr, Cidr] | undefined {
  if (prefixLength === (family === 4 ? 32 : 128)) return undefined;
  readGroups(text, groups);
  const half = (): Cidr => ({ text: `${textOf(family)}/${prefixLength + 1}`, family, prefixLength: prefixLength + 1 });
  const first = half();
  const bit = (family === 4 ? 96 : 0) + prefixLength;
  groups[bit >>> 4]! |= 0x8000 >>> (bit & 15);
  return [first, half()];
}

/** The address in `groups`. */
const textOf = (family: 4 | 6): string =>
  family === 4
    ? new ipaddr.IPv4([...groups.subarray(6)].flatMap((group) => [group >>> 8, group & 0xff])).toString()
    : new ipaddr.IPv6([...groups]).toRFC5952String();
