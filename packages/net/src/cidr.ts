import { quoted } from '@kube-semaphore/text';
import ipaddr from 'ipaddr.js';
import { familyOf, type IpFamily } from './family.ts';
import { newGroups, readGroups } from './groups.ts';
import { parseIp } from './ip.ts';
import { bad, good, type Parsed } from './parsed.ts';

/** A block of addresses. `text` is canonical: `10.4.0.0/16`, `fd00::/64`; equal blocks have equal texts. */
export type Cidr = { readonly text: string; readonly family: IpFamily; readonly prefixLength: number };

// Reused by `contains`.
const network = newGroups();
const address = newGroups();

/** The block of one address: `10.4.1.38/32`, `fd00::26/128`. @param ip canonical */
export function hostCidr(ip: string): string {
  return ip.includes(':') ? `${ip}/128` : `${ip}/32`;
}

/**
 * Parses `address/length`, with an address as for `parseIp`. Bits after the prefix are cleared, as in Go's ParseCIDR:
 * `10.4.1.38/16` is `10.4.0.0/16`. People write a node's address with the network's length, and mean the network.
 *
 * @returns the block, or what is wrong with `raw`
 */
export function parseCidr(raw: string): Parsed<Cidr> {
  const slash = raw.indexOf('/');
  if (slash < 0) return bad(`${quoted(raw)} is not a valid CIDR: it has no prefix length`);
  const ip = parseIp(raw.slice(0, slash));
  if (!ip.ok) return bad(`${quoted(raw)} is not a valid CIDR: ${ip.reason}`);
  const family = familyOf(ip.value);
  const digits = raw.slice(slash + 1);
  const prefixLength = Number(digits);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits) || prefixLength > (family === 4 ? 32 : 128)) {
    return bad(`${quoted(raw)} is not a valid CIDR: ${quoted(digits)} is not a prefix length of IPv${family}`);
  }
  const host = `${ip.value}/${digits}`;
  const first = family === 4 ? ipaddr.IPv4.networkAddressFromCIDR(host) : ipaddr.IPv6.networkAddressFromCIDR(host);
  return good({ text: `${first.toString()}/${digits}`, family, prefixLength });
}

/**
 * A block that is written in our own code, as Go's netip.MustParsePrefix.
 *
 * @throws {TypeError} if it is not a valid CIDR
 */
export function mustParseCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr.ok) throw new TypeError(cidr.reason);
  return cidr.value;
}

/** Whether a block has an address. Families never mix: `::/0` has no IPv4 address. @param ip canonical */
export function contains(cidr: Cidr, ip: string): boolean {
  if (readGroups(ip, address) !== cidr.family) return false;
  readGroups(cidr.text, network);
  // An IPv4 address is in the last 32 of the 128 bits.
  let bits = cidr.family === 4 ? cidr.prefixLength + 96 : cidr.prefixLength;
  for (let i = 0; bits > 0; i++, bits -= 16) {
    const mask = bits >= 16 ? 0xffff : 0xffff << (16 - bits);
    if ((((network[i] ?? 0) ^ (address[i] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}
