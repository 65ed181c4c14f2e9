import { bad, type Cidr, contains, good, type Parsed, parseHostPort, parseIp, specialUse } from '@kube-semaphore/net';

/** Where a peer listens. `text` is as `wg` shows it: `10.0.0.1:51820`, `[fd00::1]:51820`. */
export type Endpoint = { readonly ip: string; readonly port: number; readonly text: string };

/** What an address is, if no other host can have it. In practice, nodes have addresses of reserved blocks, too. */
function unreachable(ip: string): string | undefined {
  const use = specialUse(ip);
  return use === undefined || use.isReserved ? undefined : use.what;
}

/** Whether another host can have an address, by its form alone. @param ip as `parseIp` returns it */
export const isReachable = (ip: string): boolean => unreachable(ip) === undefined;

/** An endpoint as `wg` writes it. */
export const endpointOf = (ip: string, port: number): Endpoint => ({
  ip,
  port,
  text: `${ip.includes(':') ? `[${ip}]` : ip}:${port}`,
});

/** Reads an address and a port. Names are refused: a DNS server could send our packets anywhere, and `wg` would wait for it. */
export function parseEndpoint(raw: string): Parsed<Endpoint> {
  const parsed = parseHostPort(raw);
  if (!parsed.ok) return parsed;
  const { host, port } = parsed.value;
  const ip = parseIp(host);
  if (!ip.ok) return bad(host === '' ? 'it has no address' : `${ip.reason}, and names are not looked up`);
  return port === 0 ? bad('its port is 0') : good(endpointOf(ip.value, port));
}

/** Which valid endpoints of a remote's Nodes are refused. */
export type EndpointRules = {
  /** Of all remotes: an endpoint there would send a tunnel's packets through a tunnel. */
  readonly podSubnets: readonly Cidr[];
  /** Where the remote's Nodes may be; undefined: anywhere. */
  readonly allowedEndpoints: readonly Cidr[] | undefined;
  /** The addresses of this node. */
  readonly ownIps: ReadonlySet<string>;
};

/** Why an endpoint is refused; undefined: it isn't. */
export function refusalOf(
  { ip }: Endpoint,
  { podSubnets, allowedEndpoints, ownIps }: EndpointRules,
): string | undefined {
  const what = unreachable(ip);
  if (what !== undefined) return `${ip} is ${what}`;
  if (ownIps.has(ip)) return `${ip} is our own`;
  const subnet = podSubnets.find((cidr) => contains(cidr, ip));
  if (subnet !== undefined) return `${ip} is in the pod subnet ${subnet.text}`;
  return allowedEndpoints === undefined || allowedEndpoints.some((cidr) => contains(cidr, ip))
    ? undefined
    : `${ip} is in no allowed endpoint CIDR`;
}
