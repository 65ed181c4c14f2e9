import { message, messages, optionalBool, optionalInt, type Projected, string, strings } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { ownedMetadata, type Written, type WrittenMetadata } from './metadata.ts';

/**
 * Numbers from k8s.io/api/discovery/v1/generated.proto, those of targetRef from core/v1. The limits are maxAddresses,
 * maxEndpoints and maxPorts in pkg/apis/discovery/validation.
 */
const endpoint = {
  addresses: strings(1, 100),
  conditions: message(2, { ready: optionalBool(1), serving: optionalBool(2), terminating: optionalBool(3) }),
  hostname: string(3),
  targetRef: message(4, { kind: string(1), namespace: string(2), name: string(3) }),
  nodeName: string(6),
  zone: string(7),
  hints: message(8, { forZones: messages(1, { name: string(1) }) }),
} as const;

const port = { name: string(1), protocol: string(2), port: optionalInt(3), appProtocol: string(4) } as const;

/**
 * An EndpointSlice. An unset condition is `undefined`, which means "ready" (API reference). A `port` may be any number,
 * as the API server doesn't check it; `undefined` means every port. Other unset fields are `''` or empty.
 */
export const endpointSliceKind = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  protobuf: true,
  fields: {
    metadata: message(1, ownedMetadata),
    endpoints: messages(2, endpoint, 1000),
    ports: messages(3, port, 20_000),
    addressType: string(4),
  },
} as const satisfies Kind;

export type EndpointSlice = KubeObject<typeof endpointSliceKind>;

export type Endpoint = Projected<typeof endpoint>;

type EndpointPort = Projected<typeof port>;

/** An endpoint to write. The API server refuses empty texts (422). */
export type WrittenEndpoint = {
  readonly addresses: readonly string[];
  readonly conditions?: Written<Endpoint['conditions']>;
  readonly hostname?: string | undefined;
  readonly targetRef?: Written<Endpoint['targetRef']> | undefined;
  readonly nodeName?: string | undefined;
  readonly zone?: string | undefined;
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] } | undefined;
};

/** An EndpointSlice to write. `addressType` can't be changed once it is set. */
export type WrittenEndpointSlice = {
  readonly metadata: WrittenMetadata;
  readonly addressType: string;
  readonly endpoints: readonly WrittenEndpoint[];
  readonly ports?: readonly Written<EndpointPort>[];
};
