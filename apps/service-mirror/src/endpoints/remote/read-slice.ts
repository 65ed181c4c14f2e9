import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import { compareText, isDnsLabel, isDnsSubdomain } from '@kube-semaphore/naming';
import { serviceNameLabel } from '../../names.ts';
import { addressRefusal, type AddressRules, isUsedFamily, parseIp } from '@kube-semaphore/net';
import { explicitConditions, othersOf, podOf, type Shared, sharedTexts, tight } from '../desired/compact.ts';
import { isFamily, numberOf } from '../desired/families.ts';
import { otherFamily, skip } from './read-service.ts';
import { isOwnProduct } from '../desired/own-product.ts';
import { sharedEndpoints } from '../desired/objects.ts';
import { MAX_PORTS, portProblem, slicePortOf } from '../desired/ports.ts';
import type { Endpoint, Family, Reading, SlicePort, SourceSlice } from '../desired/source.ts';

export type SliceRules = {
  /** The addresses that a remote may announce. */
  readonly addresses: AddressRules;
  /** Local slices may have any address, and keep their nodes and zones. */
  readonly isLocal: boolean;
  /** Pods aren't named: a ServiceImport has only the hostnames that its exporters chose. */
  readonly isAnonymous?: boolean;
  /** Whether to keep the names of the remote's Nodes. */
  readonly hasNodes?: boolean;
};

/** In all endpoints of a slice. The API server accepts 100 per endpoint; Kubernetes' own controller writes one. */
const MAX_ADDRESSES = 10_000;

/** kube-proxy has an object for each pair. The API server accepts a slice with 20 million, in half a megabyte. */
const MAX_PAIRS = 100_000;

const NOTHING_SKIPPED: readonly Diagnostic[] = [];
const OTHER_FAMILY: Readonly<Record<Family, Reading<never>>> = { IPv4: otherFamily('IPv4'), IPv6: otherFamily('IPv6') };
const UNUSED: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };

/**
 * Reads an EndpointSlice. The remote is only partly trusted: an address that is invalid, that the API server would refuse,
 * or that the remote may not announce is skipped, and the others stay. So is an invalid port: kube-apiserver accepts any
 * number, but kube-proxy would fail for all Services.
 *
 * @param known the endpoints that it had; if it has the same, it shares them. After a start, they are those of its mirror
 */
export function readSlice(slice: EndpointSlice, rules: SliceRules, known?: readonly Endpoint[]): Reading<SourceSlice> {
  const { uid, namespace, name, labels } = slice.metadata;
  const service = labels[serviceNameLabel] ?? '';
  // Only slices of Services are sources, and never our own.
  if (isOwnProduct(labels) || service === '') return UNUSED;
  const { addressType: family } = slice;
  if (!isDnsLabel(namespace) || !isDnsLabel(service))
    return skip('bad-name', `its Service ${namespace}/${service} is not a valid Service name`);
  if (!isDnsSubdomain(name)) return skip('bad-name', 'its own name is not valid');
  if (family === 'FQDN')
    return skip('host-names', 'its addresses are host names, which kube-proxy does not support', 'expected');
  if (!isFamily(family)) return skip('bad-family', `its addressType is ${family}`);
  if (!rules.isLocal && !isUsedFamily(numberOf(family), rules.addresses)) return OTHER_FAMILY[family];
  const excess = excessOf(slice);
  if (excess !== undefined) return skip('too-large', excess);
  const skipped: Diagnostic[] = [];
  const ports = readPorts(slice.ports, skipped);
  // A slice without ports would mean something else: for example, all ports of a headless Service.
  if (ports.length === 0 && slice.ports.length > 0) return { value: undefined, skipped };
  const context = { ...rules, family, skipped, shared: sharedTexts() };
  const read = slice.endpoints
    .flatMap((raw) => {
      const endpoint = readEndpoint(raw, context);
      if (endpoint === undefined) return [];
      const isNamed = rules.isAnonymous === true || endpoint.hostname !== undefined;
      return [
        { endpoint, pod: isNamed ? '' : podOf(raw), node: rules.hasNodes === true ? context.shared(nodeOf(raw)) : '' },
      ];
    })
    .toSorted((a, b) => compareText(a.endpoint.address, b.endpoint.address));
  const endpoints = sharedEndpoints(
    known,
    read.map(({ endpoint }) => endpoint),
  );
  const pods = read.some(({ pod }) => pod !== '') ? read.map(({ pod }) => pod) : undefined;
  const nodes = rules.hasNodes === true ? { nodes: read.map(({ node }) => node) } : {};
  return { value: { uid, namespace, name, service, family, ports, endpoints, pods, ...nodes }, skipped };
}

/** Which limit a slice exceeds; undefined if none. The codec refuses more than 1,000 endpoints. */
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
  return excess && `it has ${excess.count} ${excess.what}; at most ${excess.most} are allowed`;
}

/** The valid ports, the first of each name; one diagnostic for all others. */
function readPorts(raw: EndpointSlice['ports'], skipped: Diagnostic[]): readonly SlicePort[] {
  const ports = new Map<string, SlicePort>();
  const problems: string[] = [];
  for (const each of raw) {
    const port = slicePortOf(each);
    if (port === undefined) problems.push('protocol');
    else if (ports.has(port.name)) problems.push('name, which another port has');
    else {
      const wrong = portProblem(port);
      if (wrong === undefined) ports.set(port.name, port);
      else problems.push(wrong);
    }
  }
  const [first] = problems;
  const count = `${problems.length} of its ${raw.length} ports are skipped`;
  if (first !== undefined) skipped.push(problem('bad-port', `${count}; the first one has an invalid ${first}`));
  return tight([...ports.values()]);
}

type EndpointRules = SliceRules & { readonly family: Family; readonly skipped: Diagnostic[]; readonly shared: Shared };

function readEndpoint(
  endpoint: EndpointSlice['endpoints'][number],
  { isLocal, skipped, shared, ...rules }: EndpointRules,
): Endpoint | undefined {
  const addresses: string[] = [];
  for (const raw of endpoint.addresses) {
    const ip = readAddress(raw, { isLocal, ...rules });
    if (typeof ip === 'string') addresses.push(ip);
    else skipped.push(ip);
  }
  const [address] = addresses;
  if (address === undefined) return undefined;
  const { nodeName, zone, conditions } = endpoint;
  return {
    address,
    otherAddresses: othersOf(addresses),
    conditions: explicitConditions(conditions),
    hostname: readHostname(endpoint.hostname, { addresses, skipped }),
    nodeName: isLocal && nodeName !== '' ? shared(nodeName) : undefined,
    zone: isLocal && zone !== '' ? shared(zone) : undefined,
    zones: undefined,
  };
}

/** Only to be compared; '' for a name that no Node can have. */
const nodeOf = ({ nodeName }: EndpointSlice['endpoints'][number]): string => (isDnsSubdomain(nodeName) ? nodeName : '');

/** The API server would refuse the whole slice for an invalid hostname. */
function readHostname(
  hostname: string,
  { addresses, skipped }: { readonly addresses: readonly string[]; readonly skipped: Diagnostic[] },
): string | undefined {
  if (hostname === '' || isDnsLabel(hostname)) return hostname || undefined;
  skipped.push(problem('bad-hostname', `the hostname of ${addresses.join(', ')} is not valid`));
  return undefined;
}

function readAddress(
  raw: string,
  { family, isLocal, addresses }: Pick<EndpointRules, 'family' | 'isLocal' | 'addresses'>,
): string | Diagnostic {
  const ip = parseIp(raw);
  if (!ip.ok) return problem('bad-address', ip.reason);
  if (ip.value.includes(':') !== (family === 'IPv6'))
    return problem('bad-address', `${ip.value} is not an ${family} address`);
  const refusal = isLocal ? undefined : addressRefusal(ip.value, addresses);
  return refusal === undefined ? ip.value : problem(refusal.reason, refusal.detail);
}

const problem = (reason: string, detail: string): Diagnostic => ({ kind: 'problem', reason, detail });
