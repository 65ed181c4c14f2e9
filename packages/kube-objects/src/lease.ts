import { int, json, message, string, stringMap } from './fields.ts';
import { identity, type Kind, type KubeObject } from './kind.ts';

/**
 * A Lease, by which the replicas of a program agree on who leads. Like every built-in it has protobuf, in which its
 * times are numbers; here a Lease is read and written by itself only, which is always JSON. The field numbers of this
 * table are never used.
 */
export const leaseKind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  protobuf: false,
  fields: {
    metadata: message(1, {
      ...identity,
      labels: stringMap(11),
      annotations: stringMap(12),
      // Kept whole, because a PUT that leaves them out would remove them.
      ownerReferences: json,
      finalizers: json,
    }),
    spec: message(2, {
      holderIdentity: string(1),
      leaseDurationSeconds: int(2),
      acquireTime: string(3),
      renewTime: string(4),
      leaseTransitions: int(5),
    }),
  },
} as const satisfies Kind;

export type Lease = KubeObject<typeof leaseKind>;

/** Milliseconds since 1970 as a Lease has its times: with six fractional digits, or the API server answers 400. */
export function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
