import type { KubeObject } from '../cluster.ts';
import { invalidValue, required, tooMany } from './causes.ts';
import type { Cause } from './status.ts';

const MAX_ENDPOINTS = 1000;
const MAX_ZONE_HINTS = 8;

type Endpoint = { addresses: string[]; conditions?: object; hints?: { forZones?: unknown[] } };
type Slice = { addressType?: string; endpoints?: Endpoint[]; ports?: object[] };

/** Fills in what kube-apiserver does. */
export function defaultEndpointSlice(slice: KubeObject): KubeObject {
  const { endpoints, ports } = slice as unknown as Slice;
  return {
    ...slice,
    endpoints: (endpoints ?? []).map((endpoint) => ({ conditions: {}, ...endpoint })),
    ...(ports && { ports: ports.map((port) => ({ name: '', protocol: 'TCP', ...port })) }),
  };
}

/** The refusals that an EndpointSlice of ours could run into. */
export function* endpointSliceRules(slice: KubeObject, previous?: KubeObject): Generator<Cause> {
  const { addressType, endpoints = [] } = slice as unknown as Slice;
  if (endpoints.length > MAX_ENDPOINTS) yield tooMany('endpoints', endpoints.length, MAX_ENDPOINTS);
  for (const [index, { hints }] of endpoints.slice(0, MAX_ENDPOINTS).entries()) {
    const zones = hints?.forZones?.length ?? 0;
    if (zones > MAX_ZONE_HINTS) yield tooMany(`endpoints[${index}].hints.forZones`, zones, MAX_ZONE_HINTS);
  }
  if (addressType === undefined) yield required('addressType');
  if (previous && addressType !== previous['addressType'])
    yield invalidValue('addressType', addressType, 'field is immutable');
}
