import { parseCidr, type Cidr, contains } from './cidr.ts';

/** Unspecified, loopback, link-local, and multicast on the link, by family. */
const SPECIAL: readonly Cidr[] = ['0.0.0.0/32', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/24', '::/128', '::1/128', 'fe80::/10', 'ff02::/16', 'ff01::/16'].map(
  (text) => {
    const cidr = parseCidr(text);
    if (!cidr.ok) throw new TypeError(cidr.reason);
    return cidr.value;
  },
);

/**
 * Whether an address means something on one host or link only. The API server refuses such endpoints
 * (ValidateNonSpecialIP in pkg/apis/core/validation).
 *
 * @param ip canonical
 */
export function isSpecialIp(ip: string): boolean {
  return SPECIAL.some((cidr) => contains(cidr, ip));
}
