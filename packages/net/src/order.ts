import { newGroups, readGroups } from './groups.ts';

// Reused by all comparisons: a large sort has a million of them, and they are synchronous.
const left = newGroups();
const right = newGroups();

/**
 * Orders canonical addresses by number, IPv4 before IPv6: `10.0.0.2`, `10.0.0.10`, `fd00::26`. For `sort` and
 * `toSorted`.
 */
export function compareIps(a: string, b: string): number {
  const family = readGroups(a, left) - readGroups(b, right);
  if (family !== 0) return family;
  for (let i = 0; i < left.length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Orders canonical CIDRs by the number of their address, IPv4 before IPv6, and of two with the same address the wider one
 * first: `10.0.0.0/8`, `10.0.0.0/16`, `10.0.0.1/32`. Only equal texts are equal.
 */
export function compareCidrs(a: string, b: string): number {
  return compareIps(a, b) || prefixLengthOf(a) - prefixLengthOf(b);
}

function prefixLengthOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
