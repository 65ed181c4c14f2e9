import { bad, good, parseIp, type Parsed } from '@kube-semaphore/net';
import { type Entry, isEntry, parseEntries } from './json.ts';
import type { Link, LinkAddress } from '../link.ts';

/** Reads `ip -json -details -statistics -statistics address`. @returns the links in order, or which field of which link is wrong */
export const parseLinks = (text: string): Parsed<readonly Link[]> => parseEntries(text, parseLink);

function parseLink(entry: Entry): Parsed<Link> {
  const { ifname: name, ifindex: index, mtu, flags, ifalias: alias = '', linkinfo, addr_info = [], stats64 } = entry;
  if (typeof name !== 'string') return bad('a link without ifname');
  const wrong = (field: string) => bad(`link ${name}: ${field} is missing or invalid`);
  if (typeof index !== 'number') return wrong('ifindex');
  if (typeof mtu !== 'number') return wrong('mtu');
  if (!Array.isArray(flags)) return wrong('flags');
  if (typeof alias !== 'string') return wrong('ifalias');
  const kind = isEntry(linkinfo) ? linkinfo['info_kind'] : undefined;
  if (kind !== undefined && typeof kind !== 'string') return wrong('linkinfo.info_kind');
  const addresses = parseAddresses(addr_info);
  if (addresses === undefined) return wrong('addr_info');
  const up = flags.includes('UP');
  return good({
    name,
    index,
    kind,
    up,
    mtuBytes: mtu,
    alias,
    addresses,
    receiveFrameErrors: countIn(stats64, 'rx', 'frame_errors'),
    receivedBytes: countIn(stats64, 'rx', 'bytes'),
    sentBytes: countIn(stats64, 'tx', 'bytes'),
  });
}

/** Only metrics depend on it, so a form that we don't know is no error. */
function countIn(statistics: unknown, direction: 'rx' | 'tx', what: string): number | undefined {
  const counts = isEntry(statistics) ? statistics[direction] : undefined;
  const count = isEntry(counts) ? counts[what] : undefined;
  return typeof count === 'number' ? count : undefined;
}

function parseAddresses(value: unknown): readonly LinkAddress[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const addresses: LinkAddress[] = [];
  for (const entry of value) {
    if (!isEntry(entry)) return undefined;
    const { family, local, prefixlen: prefixLength } = entry;
    // Addresses of other families than IP have other forms.
    if (family !== 'inet' && family !== 'inet6') continue;
    const ip = typeof local === 'string' ? parseIp(local) : undefined;
    if (ip?.ok !== true || typeof prefixLength !== 'number') return undefined;
    addresses.push({ ip: ip.value, prefixLength });
  }
  return addresses;
}
