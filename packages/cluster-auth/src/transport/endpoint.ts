import { isIPv6 } from 'node:net';
import { isLoopbackHost } from '@kube-semaphore/net';
import { ClusterAuthError } from '../errors.ts';

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080 };

/**
 * Parses the URL of an API server. The default scheme is https, as in client-go.
 *
 * @param where the flag or field of the URL, for the error
 * @returns the URL; its path doesn't end in a slash, unless it is `/`
 * @throws {ClusterAuthError} except for https:, and http: to this machine: elsewhere, others could read a token
 */
export function parseServer(raw: string, where: string): URL {
  const url = URL.parse(raw.includes('://') ? raw : `https://${raw}`);
  if (url === null || url.hostname === '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} is not a URL such as https://host:6443`);
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(hostOf(url)))) {
    throw new ClusterAuthError(
      'CLUSTER_ADDRESS',
      `${where} must be an https: URL, not ${url.protocol} (http: only works for localhost and 127.0.0.1), as credentials need TLS`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} must have only a host, a port and a path`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/**
 * Parses the URL of a proxy.
 *
 * @throws {ClusterAuthError} for an unsupported scheme; the error doesn't repeat the URL, which may contain a password
 */
export function parseProxy(raw: string, where: string): URL {
  const url = URL.parse(raw.includes('://') ? raw : `http://${raw}`);
  if (url === null || url.hostname === '') {
    throw new ClusterAuthError('CLUSTER_ADDRESS', `${where} is not a URL such as http://proxy:3128`);
  }
  // The proxy resolves host names, whichever is written, as in Go.
  if (url.protocol === 'socks5h:') url.protocol = 'socks5:';
  if (!(url.protocol in PORTS)) {
    const message = `${where} must be an http:, https: or socks5: URL, not ${url.protocol}`;
    throw new ClusterAuthError('CLUSTER_ADDRESS', message);
  }
  if (loginOf(url) === undefined) {
    throw new ClusterAuthError(
      'CLUSTER_ADDRESS',
      `${where} has a % in its user name or password that begins no escape: write %25`,
    );
  }
  return url;
}

/** The decoded user name and password of a URL, which may be empty; undefined if they can't be decoded. */
export function loginOf(url: URL): { username: string; password: string } | undefined {
  try {
    return { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  } catch {
    // The only possible error: a % that begins no escape.
    return undefined;
  }
}

/** The host of a URL as sockets take it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** The port of a URL; by default that of its scheme. */
export function portOf(url: URL): number {
  return Number(url.port) || PORTS[url.protocol] || 0;
}

/** `host:port`; IPv6 with brackets. */
export function authorityOf(host: string, port: number | string): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A URL as messages may show it: without user, password and query. */
export function redacted(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
