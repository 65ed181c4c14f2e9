import { overlaps } from './blocks.ts';
import { type Cidr, mustParseCidr } from './cidr.ts';
import { type Groups, newGroups, readGroups } from './groups.ts';

/** Why an address can't be that of one Pod or Node. `what` completes "the address is …". */
export type SpecialUse = {
  /** The block of the address. */
  readonly cidr: Cidr;
  readonly what: string;
  /** Reserved, but some networks use it: a list of allowed blocks may name it. */
  readonly isReserved: boolean;
};

const METADATA = 'a cloud’s metadata service';
const IPV4_WITHIN = 'an IPv4 address in IPv6 notation';
const TRANSLATED = 'an IPv4 address behind a translator or tunnel';

/**
 * Blocks that no Pod or Node has; a part of a block comes before the block. The sources are IANA's registries of
 * special-purpose (RFC 6890) and multicast addresses. Private, shared, documentation and benchmarking blocks aren't here:
 * clusters use all of them for Pods, as GKE documents.
 *
 * IPv6 addresses that stand for an IPv4 address are all here: a second spelling would bypass rules about the first, such
 * as `allowedPodCIDRs`.
 */
const NEVER = [
  ['0.0.0.0/8', 'unspecified'], // RFC 1122, section 3.2.1.3. Linux connects 0.0.0.0 to itself.
  ['127.0.0.0/8', 'loopback'], // RFC 1122, section 3.2.1.3
  ['169.254.0.0/16', 'link-local'], // RFC 3927; most clouds' metadata services are in it
  ['224.0.0.0/4', 'multicast'], // RFC 5771
  ['255.255.255.255/32', 'broadcast'], // RFC 919, section 7
  ['100.100.100.200/32', METADATA], // Alibaba Cloud
  ['168.63.129.16/32', METADATA], // Azure, WireServer
  ['192.0.0.192/32', METADATA], // Oracle Cloud Classic
  ['::/128', 'unspecified'], // RFC 4291, section 2.5.2
  ['::1/128', 'loopback'], // RFC 4291, section 2.5.3
  ['::/64', IPV4_WITHIN], // RFC 4291, section 2.5.5: compatible and mapped; RFC 2765: translated
  ['64:ff9b::/96', TRANSLATED], // RFC 6052: NAT64
  ['64:ff9b:1::/48', TRANSLATED], // RFC 8215: NAT64, where only its operator knows which bits are the IPv4 address
  ['2001::/32', TRANSLATED], // RFC 4380: Teredo
  ['2002::/16', TRANSLATED], // RFC 3056: 6to4
  ['fe80::/10', 'link-local'], // RFC 4291, section 2.5.6
  ['ff00::/8', 'multicast'], // RFC 4291, section 2.7
  ['fd00:ec2::/32', METADATA], // AWS: metadata, EKS Pod Identity, resolver, time
  ['fd20:ce::254/128', METADATA], // Google Cloud
  ['fd00:c1::a9fe:a9fe/128', METADATA], // Oracle Cloud
  ['fd00:42::42/128', METADATA], // Scaleway
  ['fd00:a9fe:a9fe::1/128', METADATA], // Akamai, formerly Linode
  ['fd00:100::100:200/128', METADATA], // Alibaba Cloud
] as const;

/** Blocks that no host should have, by their registry. */
const RESERVED = [
  ['240.0.0.0/4', 'reserved'], // RFC 1112, section 4: class E, which GKE can give to Pods
  ['100::/64', 'reserved'], // RFC 6666: discard-only
  ['100:0:0:1::/64', 'reserved'], // RFC 9780: dummy prefix
  ['2001:10::/28', 'reserved'], // RFC 4843: ORCHID, a name and no place
  ['2001:20::/28', 'reserved'], // RFC 7343: ORCHIDv2
  ['2001:30::/28', 'reserved'], // RFC 9374: DRIP, likewise
  ['5f00::/16', 'reserved'], // RFC 9602: segment identifiers, which are instructions to routers
] as const;

/** A block as numbers, to compare with addresses. */
type Row = { readonly use: SpecialUse; readonly network: Groups; readonly mask: Groups };

const ROWS: readonly Row[] = [...NEVER.map(rowOf(false)), ...RESERVED.map(rowOf(true))];

/** By family and the first octet or group. Nearly all addresses have no row there, and cost one lookup. */
const IPV4 = rowsByHead(4);
const IPV6 = rowsByHead(6);

// Reused by `specialUse`.
const address = newGroups();

/**
 * The special use of an address. It is called for every address of a remote.
 *
 * @param ip canonical
 * @returns undefined for an ordinary address
 */
export function specialUse(ip: string): SpecialUse | undefined {
  const rows = ip.includes(':') ? IPV6.get(Number.parseInt(ip, 16) || 0) : IPV4.get(Number.parseInt(ip, 10));
  if (rows === undefined) return undefined;
  readGroups(ip, address);
  return rows.find(holdsAddress)?.use;
}

/** A block that no Pod or Node has, in a range or around it; undefined: there isn't one. */
export function specialUseIn(range: Cidr): SpecialUse | undefined {
  const { text, family, prefixLength } = range;
  const byHead = family === 4 ? IPV4.get(Number.parseInt(text, 10)) : IPV6.get(Number.parseInt(text, 16) || 0);
  const rows = prefixLength < (family === 4 ? 8 : 16) ? ROWS : (byHead ?? []);
  return rows.find(({ use }) => !use.isReserved && overlaps(use.cidr, range))?.use;
}

function holdsAddress({ network, mask }: Row): boolean {
  for (let i = 0; i < address.length; i++) if (((address[i]! ^ network[i]!) & mask[i]!) !== 0) return false;
  return true;
}

function rowOf(isReserved: boolean) {
  return ([text, what]: readonly [text: string, what: string]): Row => {
    const cidr = mustParseCidr(text);
    const { family, prefixLength } = cidr;
    const network = newGroups();
    readGroups(text, network);
    // An IPv4 address is in the last 32 of the 128 bits.
    const bits = family === 4 ? prefixLength + 96 : prefixLength;
    const mask = newGroups().map((_, i) => 0xffff << Math.min(16, Math.max(0, 16 * (i + 1) - bits)));
    return { use: { cidr, what, isReserved }, network, mask };
  };
}

function rowsByHead(family: 4 | 6): ReadonlyMap<number, readonly Row[]> {
  const byHead = new Map<number, readonly Row[]>();
  for (const row of ROWS.filter(({ use }) => use.cidr.family === family)) {
    const [first, mask] = family === 4 ? [row.network[6]! >>> 8, row.mask[6]! >>> 8] : [row.network[0]!, row.mask[0]!];
    const last = first | (~mask & (family === 4 ? 0xff : 0xffff));
    for (let head = first; head <= last; head++) byHead.set(head, [...(byHead.get(head) ?? []), row]);
  }
  return byHead;
}

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or ::1. @param host lower case, or a canonical address */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
