import { bad, good, parseCidr, type Parsed } from '@kube-semaphore/net';
import { type Entry, parseEntries } from './json.ts';
import type { Route } from '../route.ts';

/** The protocol of routes that `ip` adds. `ip` doesn't write it. */
const BOOT = '3';

const everything = { 4: '0.0.0.0/0', 6: '::/0' } as const;

/**
 * Reads `ip -json -N route` of one family; `-N` makes it print numbers.
 *
 * @returns the routes in order, or which field of which route is wrong
 */
export const parseRoutes = (text: string, family: 4 | 6): Parsed<readonly Route[]> =>
  parseEntries(text, (entry) => parseRoute(entry, family));

function parseRoute({ dst, dev: device, protocol = BOOT }: Entry, family: 4 | 6): Parsed<Route> {
  if (typeof dst !== 'string') return bad('a route without dst');
  const wrong = (field: string) => bad(`route ${JSON.stringify(dst)}: ${field} is missing or invalid`);
  const destination = parseDestination(dst, family);
  if (!destination.ok) return wrong('dst');
  if (device !== undefined && typeof device !== 'string') return wrong('dev');
  if (typeof protocol !== 'string' || !/^\d{1,3}$/.test(protocol)) return wrong('protocol');
  return good({ destination: destination.value, device, protocol: Number(protocol) });
}

/** `ip` omits the prefix length of a single address, and writes a default route as a word. */
function parseDestination(dst: string, family: 4 | 6): Parsed<string> {
  if (dst === 'default') return good(everything[family]);
  const cidr = parseCidr(dst.includes('/') ? dst : `${dst}/${family === 4 ? 32 : 128}`);
  if (!cidr.ok) return cidr;
  return cidr.value.family === family ? good(cidr.value.text) : bad('a route of the other family');
}
