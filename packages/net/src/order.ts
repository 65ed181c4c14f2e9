import { newGroups, readGroups } from './groups.ts';

// Scratch space: a comparison runs a million times in a large sort, and is never interrupted.
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
 * Orders canonical CIDRs by the number of their address, IPv4 before IPv6, and the wider of two that begin alike
 * first: `10.0.0.0/8`, `10.0.0.0/16`, `10.0.0.1/32`. Equal texts alone are equal.
 */
export function compareCidrs(a: string, b: string): number {
  return compareIps(a, b) || prefixLengthOf(a) - prefixLengthOf(b);
}

function prefixLengthOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
