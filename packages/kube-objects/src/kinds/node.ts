import { message, messages, string, strings, time } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { describedMetadata } from './metadata.ts';

/** A Node: its Pod CIDRs, its conditions and its addresses. Numbers from k8s.io/api/core/v1/generated.proto. */
export const nodeKind = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  protobuf: true,
  fields: {
    metadata: message(1, describedMetadata),
    spec: message(2, { podCIDR: string(1), podCIDRs: strings(7, 10) }),
    status: message(3, {
      conditions: messages(4, { type: string(1), status: string(2), lastTransitionTime: time(4) }),
      addresses: messages(5, { type: string(1), address: string(2) }),
    }),
  },
} as const satisfies Kind;

export type Node = KubeObject<typeof nodeKind>;
