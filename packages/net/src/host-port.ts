import { quoted } from '@kube-semaphore/text';
import { parseIp } from './ip.ts';
import { bad, good, type Parsed } from './parsed.ts';

/** A TCP or UDP address. An empty `host` means every address of the machine. */
export type HostPort = { readonly host: string; readonly port: number };

/** A name by RFC 1123: labels of letters, digits and inner hyphens, separated by dots. */
const HOST_NAME = /^(?!.{254})[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/**
 * Parses `host:port` as in Go's net.Listen: `:8080`, `127.0.0.1:0`, `[::1]:8080`, `localhost:8080`. IPv6
 * addresses need the brackets, and ports are numbers from 0 to 65535.
 *
 * @returns the host without brackets, in canonical form if it is an address; or what is wrong with `raw`
 */
export function parseHostPort(raw: string): Parsed<HostPort> {
  const colon = raw.lastIndexOf(':');
  const digits = raw.slice(colon + 1);
  if (colon < 0 || !/^(0|[1-9]\d{0,4})$/.test(digits) || Number(digits) > 65_535) {
    return bad(`${quoted(raw)} must end in a port from 0 to 65535, such as ":8080"`);
  }
  const host = parseHost(raw.slice(0, colon));
  return host.ok ? good({ host: host.value, port: Number(digits) }) : host;
}

function parseHost(raw: string): Parsed<string> {
  if (raw === '') return good('');
  if (raw.startsWith('[') && raw.endsWith(']')) {
    const inner = raw.slice(1, -1);
    return inner.includes(':') ? parseIp(inner) : bad(`${quoted(raw)}: only an IPv6 address may have brackets`);
  }
  if (raw.includes(':')) return bad(`${quoted(raw)}: an IPv6 address must have brackets before a port`);
  // A name of digits and dots alone can only be a mistyped IPv4 address.
  if (/^[\d.]+$/.test(raw)) return parseIp(raw);
  return HOST_NAME.test(raw) ? good(raw.toLowerCase()) : bad(`${quoted(raw)} is not a valid IP address or host name`);
}
