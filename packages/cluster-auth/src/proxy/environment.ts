import { contains, isLoopbackHost, parseCidr, parseIp } from '@kube-semaphore/net';
import type { Environment } from '../dependencies.ts';
import { hostOf, parseProxy, portOf } from '../endpoint.ts';

/**
 * The proxy for a URL by HTTPS_PROXY (HTTP_PROXY for http:) and NO_PROXY, or the same in lower case. The rules are those
 * of Go's golang.org/x/net/http/httpproxy, which client-go and kubectl use. NO_PROXY is a list of host names with their
 * subdomains, `.suffixes`, addresses, CIDRs and `*`. This machine never has a proxy.
 *
 * @throws {ClusterAuthError} if the variable is not a valid URL of a proxy
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
  // `*.example.com` and `.example.com` are only the subdomains; `example.com` is also the host itself.
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
