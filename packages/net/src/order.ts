import { ipv4Number } from './groups.ts';
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

/**
 * Addresses in the order of `compareIps`, each once. Sets of thousands are sorted at each change, so IPv4 addresses are
 * sorted as numbers: comparing texts takes ten times as long.
 *
 * @param hosts canonical: addresses, or CIDRs of one address each
 */
export function inOrder(hosts: Iterable<string>): readonly string[] {
  const byNumber = new Map<number, string>();
  const ipv6 = new Set<string>();
  for (const host of hosts) {
    if (host.includes(':')) ipv6.add(host);
    else byNumber.set(ipv4Number(host), host);
  }
  const sorted: string[] = [];
  for (const number of Uint32Array.from(byNumber.keys()).sort()) sorted.push(byNumber.get(number)!);
  return [...sorted, ...[...ipv6].sort(compareIps)];
}
