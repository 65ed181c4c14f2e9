import { bad, good, parseCidr, type Parsed } from '@kube-semaphore/net';
import { type Entry, parseEntries } from './json.ts';
import type { Route } from './route.ts';

/** What `ip` doesn't write, as it is what `ip` itself makes. */
const BOOT = '3';

const everything = { 4: '0.0.0.0/0', 6: '::/0' } as const;

/**
 * Reads `ip -json -N route` of one family; `-N` is what makes it print numbers.
 *
 * @returns the routes in the order of the answer, or which field of which route is wrong
 */
export function parseRoutes(text: string, family: 4 | 6): Parsed<readonly Route[]> {
  const entries = parseEntries(text);
  if (!entries.ok) return entries;
  const routes: Route[] = [];
  for (const entry of entries.value) {
    const route = parseRoute(entry, family);
    if (!route.ok) return route;
    routes.push(route.value);
  }
  return good(routes);
}

function parseRoute({ dst, dev: device, protocol = BOOT }: Entry, family: 4 | 6): Parsed<Route> {
  if (typeof dst !== 'string') return bad('a route without dst');
  const wrong = (field: string) => bad(`route ${JSON.stringify(dst)}: ${field} is missing, or not what it should be`);
  const destination = parseDestination(dst, family);
  if (!destination.ok) return wrong('dst');
  if (device !== undefined && typeof device !== 'string') return wrong('dev');
  if (typeof protocol !== 'string' || !/^\d{1,3}$/.test(protocol)) return wrong('protocol');
  return good({ destination: destination.value, device, protocol: Number(protocol) });
}

/** `ip` writes neither the length of a whole address nor the address of a default route. */
function parseDestination(dst: string, family: 4 | 6): Parsed<string> {
  if (dst === 'default') return good(everything[family]);
  const cidr = parseCidr(dst.includes('/') ? dst : `${dst}/${family === 4 ? 32 : 128}`);
  if (!cidr.ok) return cidr;
  return cidr.value.family === family ? good(cidr.value.text) : bad('a route of the other family');
}
