import { compareIps, hostCidr, ipv4Number, isPlainlyCanonical, parseCidr, parseIp } from '@kube-semaphore/net';

/**
 * Reads an entry of `spec.nets`: a CIDR or an address.
 *
 * @returns the canonical CIDR, without bits beyond the prefix; undefined if the entry is invalid
 */
export function readNet(raw: string): string | undefined {
  const host = raw.slice(0, raw.indexOf('/'));
  if (isPlainlyCanonical(host) && hostCidr(host) === raw) return raw;
  if (raw.includes('/')) {
    const cidr = parseCidr(raw);
    return cidr.ok ? cidr.value.text : undefined;
  }
  const ip = parseIp(raw);
  return ip.ok ? hostCidr(ip.value) : undefined;
}

/** The hosts' CIDRs in the order of `compareCidrs`, each once. @param ips canonical */
export const sortedHosts = (ips: Iterable<string>): readonly string[] => inOrder(ips).map(hostCidr);

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
