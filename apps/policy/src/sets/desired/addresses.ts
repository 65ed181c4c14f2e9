import { hostCidr, inOrder, isPlainlyCanonical, parseCidr, parseIp } from '@kube-semaphore/net';

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
