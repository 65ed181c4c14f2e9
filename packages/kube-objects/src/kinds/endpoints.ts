import { message, messages, string } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { describedMetadata } from './metadata.ts';

/**
 * Endpoints, which EndpointSlices replaced: the fields that show whether a Go program wrote them, and whether they have a
 * ready address. Numbers from k8s.io/api/core/v1/generated.proto.
 */
export const endpointsKind = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  protobuf: true,
  fields: {
    metadata: message(1, describedMetadata),
    // The API server limits neither; etcd accepts 1.5 MiB.
    subsets: messages(2, { addresses: messages(1, { ip: string(1) }, 100_000) }, 100_000),
  },
} as const satisfies Kind;

export type Endpoints = KubeObject<typeof endpointsKind>;
