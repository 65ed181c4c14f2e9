import { isIPv4, isIPv6 } from 'node:net';
import { duplicate, invalidValue, notSupported, required, tooMany } from '../http/causes.ts';
import { endpointIpRules } from './endpoint-ips.ts';
import { protocols } from './ports.ts';
import type { Cause } from '../http/status.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from './syntax.ts';
import type { KubeObject } from '../test-cluster.ts';

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_ZONE_HINTS = 8;
const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

type Endpoint = {
  addresses?: string[];
  conditions?: object;
  hostname?: string;
  nodeName?: string;
  hints?: { forZones?: { name: string }[] };
};
type Port = { name?: string; protocol?: string; appProtocol?: string };
type Slice = { addressType?: string; endpoints?: Endpoint[] | null; ports?: Port[] | null };

/** Sets the defaults of kube-apiserver, which stores protobuf: that has no empty lists, so in JSON they are null. */
export function defaultEndpointSlice(slice: KubeObject): KubeObject {
  const { endpoints, ports } = slice as unknown as Slice;
  return {
    ...slice,
    endpoints: endpoints?.length ? endpoints.map((endpoint) => ({ conditions: {}, ...endpoint })) : null,
    ports: ports?.length ? ports.map((port) => ({ name: '', protocol: 'TCP', ...port })) : null,
  };
}

/** The rules that our EndpointSlices could break. Port numbers aren't checked. */
export function* endpointSliceRules(slice: KubeObject, previous?: KubeObject): Generator<Cause> {
  const { addressType, ...lists } = slice as unknown as Slice;
  const [endpoints, ports] = [lists.endpoints ?? [], lists.ports ?? []];
  if (addressType === undefined) yield required('addressType');
  else if (!addressTypes.includes(addressType)) yield notSupported('addressType', addressType, addressTypes);
  yield* portRules(ports);
  if (endpoints.length > MAX_ENDPOINTS) yield tooMany('endpoints', endpoints.length, MAX_ENDPOINTS);
  else
    for (const [index, endpoint] of endpoints.entries())
      yield* endpointRules(`endpoints[${index}]`, endpoint, addressType);
  if (previous && addressType !== previous['addressType'])
    yield invalidValue('addressType', addressType, 'field is immutable');
}

function* portRules(ports: readonly Port[]): Generator<Cause> {
  for (const [index, { name = '', protocol = '', appProtocol }] of ports.entries()) {
    const field = `ports[${index}]`;
    if (name !== '' && !isDnsLabel(name)) yield invalidValue(`${field}.name`, name, 'must be a DNS label');
    if (ports.findIndex((port) => port.name === name) < index) yield duplicate(`${field}.name`, name);
    if (!protocols.includes(protocol)) yield notSupported(`${field}.protocol`, protocol, protocols);
    if (appProtocol !== undefined && !isQualifiedName(appProtocol))
      yield invalidValue(`${field}.appProtocol`, appProtocol, 'must be a name');
  }
}

function* endpointRules(field: string, endpoint: Endpoint, addressType: string | undefined): Generator<Cause> {
  const { addresses = [], hostname, nodeName, hints } = endpoint;
  if (addresses.length === 0) yield required(`${field}.addresses`, 'must contain at least 1 address');
  if (addresses.length > MAX_ADDRESSES) yield tooMany(`${field}.addresses`, addresses.length, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries()) {
    if (addressType !== 'FQDN') yield* addressRules(`${field}.addresses`, index, { address, addressType });
  }
  if (nodeName !== undefined && !isDnsSubdomain(nodeName))
    yield invalidValue(`${field}.nodeName`, nodeName, 'must be a name');
  if (hostname !== undefined && !isDnsLabel(hostname))
    yield invalidValue(`${field}.hostname`, hostname, 'must be a DNS label');
  yield* hintRules(`${field}.hints.forZones`, hints?.forZones ?? []);
}

function* addressRules(
  field: string,
  index: number,
  { address, addressType }: { address: string; addressType: string | undefined },
): Generator<Cause> {
  const [isWanted, isOther] = addressType === 'IPv6' ? [isIPv6, isIPv4] : [isIPv4, isIPv6];
  if (!isWanted(address) && isOther(address)) yield invalidValue(field, address, `must be an ${addressType} address`);
  yield* endpointIpRules(`${field}[${index}]`, address);
}

function* hintRules(field: string, zones: readonly { name: string }[]): Generator<Cause> {
  if (zones.length > MAX_ZONE_HINTS) yield tooMany(field, zones.length, MAX_ZONE_HINTS);
  else {
    for (const [index, { name }] of zones.entries()) {
      if (zones.findIndex((zone) => zone.name === name) < index) yield duplicate(`${field}[${index}].name`, name);
      if (!isLabelValue(name)) yield invalidValue(`${field}[${index}].name`, name, 'must be a label value');
    }
  }
}
