import type { Left } from '@kube-semaphore/app';
import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import { isDnsLabel, serviceNameLabel } from '@kube-semaphore/naming';
import { isSpecialIp, parseIp } from '@kube-semaphore/net';
import { type Shared, sharedConditions, sharedTexts, tight } from './compact.ts';
import { isOwnProduct } from './own-product.ts';
import { isAppProtocol, isProtocol, type Reading } from './read-service.ts';
import type { Endpoint, Family, SlicePort, SourceSlice } from './source.ts';

export type SliceRules = {
  /** Whether the remote may bring this address into the local cluster (`allowedPodCIDRs`). Takes canonical addresses. */
  readonly isAllowed: (ip: string) => boolean;
  /** Node and zone mean something: it is the local cluster. */
  readonly isLocal: boolean;
};

const NOTHING_SKIPPED: readonly Left[] = [];
const NOBODY: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };

/**
 * Reads an EndpointSlice. The remote is half trusted: an endpoint with an address that isn't one, that the API server
 * would refuse, or that the remote may not bring in is left out, and the others stay.
 */
export function readSlice(slice: EndpointSlice, rules: SliceRules): Reading<SourceSlice> {
  const { uid, namespace, name, labels } = slice.metadata;
  const service = labels[serviceNameLabel] ?? '';
  // A slice that belongs to no Service is nobody's business, and our own products are never a source.
  if (isOwnProduct(labels) || service === '' || slice.addressType === 'FQDN') return NOBODY;
  const { addressType: family } = slice;
  if (!isDnsLabel(namespace) || !isDnsLabel(service)) return left('bad-name', `it says that it belongs to ${namespace}/${service}`);
  if (!isFamily(family)) return left('bad-family', `its addressType is ${family}`);
  const ports = slice.ports.map(portOf);
  if (!ports.every(isLegalPort)) return left('bad-port', 'it has a port that no slice can have');
  const skipped: Left[] = [];
  const context = { ...rules, family, skipped, shared: sharedTexts() };
  const endpoints = slice.endpoints.map((endpoint) => readEndpoint(endpoint, context)).filter((endpoint) => endpoint !== undefined);
  const value = { uid, namespace, name, service, family, ports, endpoints: endpoints.toSorted(byAddress) };
  return { value, skipped };
}

export function portOf({ name, protocol, port, appProtocol }: EndpointSlice['ports'][number]): SlicePort | undefined {
  if (protocol !== '' && !isProtocol(protocol)) return undefined;
  return { name, protocol: protocol || 'TCP', port, appProtocol: appProtocol || undefined };
}

function isLegalPort(port: SlicePort | undefined): port is SlicePort {
  return port !== undefined && (port.name === '' || isDnsLabel(port.name)) && isAppProtocol(port.appProtocol);
}

export const isFamily = (addressType: string): addressType is Family => addressType === 'IPv4' || addressType === 'IPv6';

type EndpointRules = SliceRules & { readonly family: Family; readonly skipped: Left[]; readonly shared: Shared };

function readEndpoint(endpoint: EndpointSlice['endpoints'][number], { isLocal, skipped, shared, ...rules }: EndpointRules): Endpoint | undefined {
  const addresses: string[] = [];
  for (const raw of endpoint.addresses) {
    const address = readAddress(raw, rules);
    if (typeof address === 'string') addresses.push(address);
    else skipped.push(address);
  }
  if (addresses.length === 0) return undefined;
  const { targetRef, nodeName, zone, conditions } = endpoint;
  return {
    addresses: tight(addresses),
    conditions: sharedConditions(conditions),
    hostname: readHostname(endpoint.hostname, { addresses, skipped }),
    target: readTarget(targetRef, shared),
    nodeName: isLocal && nodeName !== '' ? shared(nodeName) : undefined,
    zone: isLocal && zone !== '' ? shared(zone) : undefined,
  };
}

/** One for which the API server would refuse the whole slice is done without. */
function readHostname(hostname: string, { addresses, skipped }: { readonly addresses: readonly string[]; readonly skipped: Left[] }): string | undefined {
  if (hostname === '' || isDnsLabel(hostname)) return hostname || undefined;
  skipped.push(problem('bad-hostname', `the hostname of ${addresses.join(', ')} is none`));
  return undefined;
}

/** A reference to nothing is none. */
export function readTarget({ kind, namespace, name }: EndpointSlice['endpoints'][number]['targetRef'], shared: Shared): Endpoint['target'] {
  return name === '' ? undefined : { kind: shared(kind), namespace: shared(namespace), name };
}

function readAddress(raw: string, { family, isAllowed }: Pick<EndpointRules, 'family' | 'isAllowed'>): string | Left {
  const ip = parseIp(raw);
  if (!ip.ok) return problem('bad-address', ip.reason);
  if (ip.value.includes(':') !== (family === 'IPv6')) return problem('bad-address', `${ip.value} is no ${family} address`);
  if (isSpecialIp(ip.value)) return problem('bad-address', `${ip.value} is loopback, link-local or unspecified`);
  return isAllowed(ip.value) ? ip.value : problem('address-not-allowed', `${ip.value} is outside of allowedPodCIDRs`);
}

const problem = (reason: string, detail: string): Left => ({ kind: 'problem', reason, detail });

function left(reason: string, detail: string): Reading<never> {
  return { value: undefined, skipped: [problem(reason, detail)] };
}

function byAddress(a: Endpoint, b: Endpoint): number {
  const [x, y] = [a.addresses[0]!, b.addresses[0]!];
  return x < y ? -1 : Number(x > y);
}
