import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isDnsSubdomain } from '@kube-semaphore/naming';
import { serviceNameLabel } from '../names.ts';
import { addressRefusal, type AddressRules, parseIp } from '@kube-semaphore/net';
import { type Shared, sharedConditions, sharedTarget, sharedTexts, tight } from '../desired/compact.ts';
import { isFamily } from '../desired/families.ts';
import { isOwnProduct } from '../desired/own-product.ts';
import { MAX_PORTS, portProblem, slicePortOf } from '../desired/ports.ts';
import type { Endpoint, Family, Reading, SlicePort, SourceSlice } from '../desired/source.ts';

export type SliceRules = {
  /** Which addresses a remote may bring into the local cluster. */
  readonly addresses: AddressRules;
  /** It is the local cluster: node and zone mean something, and any address may be there. */
  readonly isLocal: boolean;
};

/** In all endpoints of one slice; the API server takes 100 in each, and Kubernetes' own controller writes one. */
const MAX_ADDRESSES = 10_000;

/** kube-proxy holds an object for each: the API server takes 20 million of them in one slice of half a megabyte. */
const MAX_PAIRS = 100_000;

const NOTHING_SKIPPED: readonly Diagnostic[] = [];
const NOBODY: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };

/**
 * Reads an EndpointSlice. The remote is half trusted: an endpoint with an address that isn't one, that the API server
 * would refuse, or that the remote may not bring in is left out, and the others stay. So is a port that no consumer
 * here can take: kube-apiserver accepts any number, and one that no port has makes kube-proxy fail with all Services.
 */
export function readSlice(slice: EndpointSlice, rules: SliceRules): Reading<SourceSlice> {
  const { uid, namespace, name, labels } = slice.metadata;
  const service = labels[serviceNameLabel] ?? '';
  // A slice that belongs to no Service is nobody's business, and our own products are never a source.
  if (isOwnProduct(labels) || service === '') return NOBODY;
  const { addressType: family } = slice;
  if (!isDnsLabel(namespace) || !isDnsLabel(service))
    return left('bad-name', `it says that it belongs to ${namespace}/${service}`);
  if (!isDnsSubdomain(name)) return left('bad-name', 'its own name is not valid');
  if (family === 'FQDN')
    return {
      value: undefined,
      skipped: [
        { kind: 'expected', reason: 'host-names', detail: 'its addresses are names, which no kube-proxy takes' },
      ],
    };
  if (!isFamily(family)) return left('bad-family', `its addressType is ${family}`);
  const excess = excessOf(slice);
  if (excess !== undefined) return left('too-large', excess);
  const skipped: Diagnostic[] = [];
  const ports = readPorts(slice.ports, skipped);
  // Without ports it would be a slice of another kind: one of a headless Service, say.
  if (ports.length === 0 && slice.ports.length > 0) return { value: undefined, skipped };
  const context = { ...rules, family, skipped, shared: sharedTexts() };
  const endpoints = slice.endpoints
    .map((endpoint) => readEndpoint(endpoint, context))
    .filter((endpoint) => endpoint !== undefined);
  const value = { uid, namespace, name, service, family, ports, endpoints: endpoints.toSorted(byAddress) };
  return { value, skipped };
}

/** How a slice is larger than one may be; undefined if it isn't. More than 1,000 endpoints don't pass the codec. */
function excessOf({ endpoints, ports }: EndpointSlice): string | undefined {
  const counts = [
    { what: 'ports', count: ports.length, most: MAX_PORTS },
    {
      what: 'addresses',
      count: endpoints.reduce((sum, { addresses }) => sum + addresses.length, 0),
      most: MAX_ADDRESSES,
    },
    { what: 'pairs of endpoint and port', count: endpoints.length * ports.length, most: MAX_PAIRS },
  ];
  const excess = counts.find(({ count, most }) => count > most);
  return excess && `it has ${excess.count} ${excess.what}, at most ${excess.most} are allowed`;
}

/** The ports that a slice here may have, the first of each name; one diagnostic for all others. */
function readPorts(raw: EndpointSlice['ports'], skipped: Diagnostic[]): readonly SlicePort[] {
  const ports = new Map<string, SlicePort>();
  const problems: string[] = [];
  for (const each of raw) {
    const port = slicePortOf(each);
    if (port === undefined) problems.push('its protocol');
    else if (ports.has(port.name)) problems.push('its name, which another port has');
    else {
      const wrong = portProblem(port);
      if (wrong === undefined) ports.set(port.name, port);
      else problems.push(wrong);
    }
  }
  const [first] = problems;
  const count = `${problems.length} of its ${raw.length} ports can't be used`;
  if (first !== undefined) skipped.push(problem('bad-port', `${count}; of the first it is ${first}`));
  return tight([...ports.values()]);
}

type EndpointRules = SliceRules & { readonly family: Family; readonly skipped: Diagnostic[]; readonly shared: Shared };

function readEndpoint(
  endpoint: EndpointSlice['endpoints'][number],
  { isLocal, skipped, shared, ...rules }: EndpointRules,
): Endpoint | undefined {
  const addresses: string[] = [];
  for (const raw of endpoint.addresses) {
    const address = readAddress(raw, { isLocal, ...rules });
    if (typeof address === 'string') addresses.push(address);
    else skipped.push(address);
  }
  if (addresses.length === 0) return undefined;
  const { targetRef, nodeName, zone, conditions } = endpoint;
  return {
    addresses: tight(addresses),
    conditions: sharedConditions(conditions),
    hostname: readHostname(endpoint.hostname, { addresses, skipped }),
    target: targetOf(targetRef, { isLocal, shared }),
    nodeName: isLocal && nodeName !== '' ? shared(nodeName) : undefined,
    zone: isLocal && zone !== '' ? shared(zone) : undefined,
  };
}

/** One for which the API server would refuse the whole slice is done without. */
function readHostname(
  hostname: string,
  { addresses, skipped }: { readonly addresses: readonly string[]; readonly skipped: Diagnostic[] },
): string | undefined {
  if (hostname === '' || isDnsLabel(hostname)) return hostname || undefined;
  skipped.push(problem('bad-hostname', `the hostname of ${addresses.join(', ')} is none`));
  return undefined;
}

type TargetRef = EndpointSlice['endpoints'][number]['targetRef'];

/**
 * What an endpoint is. CoreDNS makes a label of the name (`endpoint_pod_names`), and one that isn't a label costs all
 * endpoints of the Service their SRV records. A Pod of another cluster has no namespace: it would be one of this one.
 */
function targetOf(
  target: TargetRef,
  { isLocal, shared }: Pick<EndpointRules, 'isLocal' | 'shared'>,
): Endpoint['target'] {
  if (!isDnsLabel(target.name)) return undefined;
  if (isLocal) return sharedTarget(target, shared);
  return target.kind === 'Pod' ? { kind: shared(target.kind), namespace: '', name: target.name } : undefined;
}

function readAddress(
  raw: string,
  { family, isLocal, addresses }: Pick<EndpointRules, 'family' | 'isLocal' | 'addresses'>,
): string | Diagnostic {
  const ip = parseIp(raw);
  if (!ip.ok) return problem('bad-address', ip.reason);
  if (ip.value.includes(':') !== (family === 'IPv6'))
    return problem('bad-address', `${ip.value} is no ${family} address`);
  const refusal = isLocal ? undefined : addressRefusal(ip.value, addresses);
  return refusal === undefined ? ip.value : problem(refusal.reason, refusal.detail);
}

const problem = (reason: string, detail: string): Diagnostic => ({ kind: 'problem', reason, detail });

function left(reason: string, detail: string): Reading<never> {
  return { value: undefined, skipped: [problem(reason, detail)] };
}

function byAddress(a: Endpoint, b: Endpoint): number {
  const [x, y] = [a.addresses[0]!, b.addresses[0]!];
  return x < y ? -1 : Number(x > y);
}
