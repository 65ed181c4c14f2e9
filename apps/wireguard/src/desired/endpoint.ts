import { bad, type Cidr, contains, good, type Parsed, parseHostPort, parseIp, specialUse } from '@kube-semaphore/net';

/** Where a peer listens. `text` is as `wg` shows it: `10.0.0.1:51820`, `[fd00::1]:51820`. */
export type Endpoint = { readonly ip: string; readonly port: number; readonly text: string };

/** What an address is, if no other host can have it. Reserved blocks are used for nodes as well, whatever their registry says. */
function unreachable(ip: string): string | undefined {
  const use = specialUse(ip);
  return use === undefined || use.isReserved ? undefined : use.what;
}

/** Whether an address can be that of another host, by its form alone. Takes what `parseIp` made. */
export const isReachable = (ip: string): boolean => unreachable(ip) === undefined;

/** An endpoint as `wg` writes it. */
export const endpointOf = (ip: string, port: number): Endpoint => ({
  ip,
  port,
  text: `${ip.includes(':') ? `[${ip}]` : ip}:${port}`,
});

/** Reads an address and a port. A name is refused: whoever answers for it could send our packets anywhere, and `wg` would wait for it. */
export function parseEndpoint(raw: string): Parsed<Endpoint> {
  const parsed = parseHostPort(raw);
  if (!parsed.ok) return parsed;
  const { host, port } = parsed.value;
  const ip = parseIp(host);
  if (!ip.ok) return bad(host === '' ? 'it has no address' : `${ip.reason}, and names are not looked up`);
  return port === 0 ? bad('its port is 0') : good(endpointOf(ip.value, port));
}

/** Which endpoints of a remote's Nodes are refused, however well they are written. */
export type EndpointRules = {
  /** Of all remotes: a tunnel through a tunnel would carry itself. */
  readonly podSubnets: readonly Cidr[];
  /** Where the remote's Nodes may be; anywhere without. */
  readonly allowedEndpoints: readonly Cidr[] | undefined;
  /** The addresses of this node. */
  readonly ownIps: ReadonlySet<string>;
};

/** Why packets must not be sent to an endpoint; undefined: they may. */
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
