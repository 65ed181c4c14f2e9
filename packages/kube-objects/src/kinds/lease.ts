import { int, json, message, string, stringMap } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/**
 * A Lease, with which the replicas of a program agree on who leads. We only read and write single Leases, which is always
 * JSON, so the field numbers of this table aren't used.
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
      // Complete, because a PUT without them would remove them.
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

/** Milliseconds since 1970 as a time of a Lease: the API server requires six fractional digits. */
export function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
