import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isLoopbackHost } from '@kube-semaphore/net';
import type { Environment } from '../dependencies.ts';
import { hostOf, parseProxy, portOf } from '../transport/endpoint.ts';

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
  const [host, port] = [hostOf(url), String(portOf(url))];
  if (isLoopbackHost(host) || covers('127.0.0.0/8', host, port)) return true;
  return list.split(',').some((entry) => covers(entry.trim().toLowerCase(), host, port));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [, first = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isAddress(first) && Number(length) <= bitsOf(first)) return isInside(host, first, Number(length));
  const { name, port: ofPort } = splitPort(entry);
  if (ofPort !== '' && ofPort !== port) return false;
  if (isAddress(name)) return isInside(host, name, bitsOf(name));
  return name !== '' && isIP(host) === 0 && isInDomain(host, name);
}

/** As Go's net.SplitHostPort: only with a port, an IPv6 address has brackets. An empty port is any. */
function splitPort(entry: string): { readonly name: string; readonly port: string } {
  const [, inBrackets, plain, port = ''] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry) ?? [];
  return { name: inBrackets ?? plain ?? entry, port };
}

/** `*.example.com` and `.example.com` are only the subdomains; `example.com` is also the host itself. */
function isInDomain(host: string, name: string): boolean {
  const [, dot = '', rest = ''] = /^(?:\*(?=\.))?(\.?)(.*)$/.exec(name) ?? [];
  const domain = domainToASCII(rest) || rest;
  return host.endsWith(`.${domain}`) || (dot === '' && host === domain);
}

const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 4 ? 'ipv4' : 'ipv6');

const bitsOf = (ip: string): number => (isIP(ip) === 4 ? 32 : 128);

function isInside(host: string, network: string, length: number): boolean {
  if (isIP(host) === 0 || isIpv4(host) !== isIpv4(network)) return false;
  return block(network, length).check(host, familyOf(host));
}

function block(network: string, length: number): BlockList {
  const list = new BlockList();
  list.addSubnet(network, length, familyOf(network));
  return list;
}

const MAPPED = block('::ffff:0:0', 96);

/** Maybe in the notation of IPv6. */
const isIpv4 = (ip: string): boolean => isIP(ip) === 4 || MAPPED.check(ip, 'ipv6');
