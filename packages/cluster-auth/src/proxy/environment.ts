import { contains, isLoopbackHost, parseCidr, parseIp } from '@kube-semaphore/net';
import type { Environment } from '../dependencies.ts';
import { hostOf, parseProxy, portOf } from '../endpoint.ts';

/**
 * The proxy that HTTPS_PROXY (HTTP_PROXY for an http: URL) and NO_PROXY, or the same in lower case, choose, by the rules of Go's
 * golang.org/x/net/http/httpproxy, which client-go and kubectl follow: NO_PROXY is a list of host names that include
 * their subdomains, `.suffixes`, addresses, CIDRs and `*`; this machine itself is never proxied.
 *
 * @throws {ClusterAuthError} if the variable holds no URL of a proxy
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  const variable = url.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const raw = env[variable] || env[variable.toLowerCase()];
  if (!raw || isExempt(url, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined;
  return parseProxy(raw, variable);
}

function isExempt(url: URL, list: string): boolean {
  const host = hostOf(url);
  if (isLoopbackHost(host)) return true;
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && covers(entry, host, portOf(url)));
}

function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*' || inBlock(entry, host) || isAddress(entry, host)) return true;
  const [, name = entry, ofPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  if (ofPort !== undefined && Number(ofPort) !== port) return false;
  if (isAddress(name.replace(/^\[(.*)\]$/, '$1'), host)) return true;
  // `*.example.com` and `.example.com` are the subdomains, `example.com` is the host itself too.
  const domain = name.replace(/^\*\./, '.');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function inBlock(cidr: string, host: string): boolean {
  const block = parseCidr(cidr);
  const ip = parseIp(host);
  return block.ok && ip.ok && contains(block.value, ip.value);
}

function isAddress(entry: string, host: string): boolean {
  const ip = parseIp(entry);
  return ip.ok && ip.value === host;
}
