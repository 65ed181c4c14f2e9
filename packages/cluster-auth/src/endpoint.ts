import { isIPv6 } from 'node:net';
import { isLoopbackHost } from '@kube-semaphore/net';
import { ClusterAuthError } from './errors.ts';

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080 };

/**
 * Reads the URL of an API server. One without a scheme is https, as for client-go.
 *
 * @param where the flag or field that holds it, for the error
 * @returns the URL without a slash at its end, unless that is the whole path
 * @throws {ClusterAuthError} for anything but https:, and http: to this machine: over http: a token would travel for all to read
 */
export function parseServer(raw: string, where: string): URL {
  const url = URL.parse(raw.includes('://') ? raw : `https://${raw}`);
  if (url === null || url.hostname === '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} is not a URL such as https://host:6443`);
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(hostOf(url)))) {
    throw new ClusterAuthError(
      'CLUSTER_ADDRESS',
      `${where} must be an https: URL and is an ${url.protocol} one: credentials are not sent without TLS, except to this machine (localhost, 127.0.0.1)`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} may have a host, a port and a path, and nothing else`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/**
 * Reads the URL of a proxy.
 *
 * @throws {ClusterAuthError} for a scheme that no proxy here has; the URL is not repeated, it may hold a password
 */
export function parseProxy(raw: string, where: string): URL {
  const url = URL.parse(raw.includes('://') ? raw : `http://${raw}`);
  if (url === null || url.hostname === '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} is not a URL such as http://proxy:3128`);
  }
  if (!(url.protocol in PORTS)) {
    const message = `${where} must be an http:, https: or socks5: URL and is an ${url.protocol} one`;
    throw new ClusterAuthError('CLUSTER_ADDRESS', message);
  }
  if (loginOf(url) === undefined) {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} has a stray % in its user name or password: write %25`);
  }
  return url;
}

/** The user name and password of a URL, decoded and perhaps empty; undefined if they can't be decoded. */
export function loginOf(url: URL): { username: string; password: string } | undefined {
  try {
    return { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  } catch {
    // The one error that there is: a % that begins no escape.
    return undefined;
  }
}

/** The host of a URL as sockets take it: without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** The port of a URL, its scheme's where it names none. */
export function portOf(url: URL): number {
  return Number(url.port) || PORTS[url.protocol] || 0;
}

/** `host:port`, with the brackets of IPv6. */
export function authorityOf(host: string, port: number | string): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A URL as it may stand in messages: without a user, password or query. */
export function redacted(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
