import { int, message, messages, optionalInt, type Projected, string, stringMap, strings } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { ownedMetadata } from './metadata.ts';

// Custom resources have no protobuf, so the numbers in these tables aren't used. The fields are those of
// sigs.k8s.io/mcs-api v0.5.2, whose two versions have the same schema: v1beta1 is stored.
const multicluster = { group: 'multicluster.x-k8s.io', version: 'v1beta1', protobuf: false } as const;

/** In bytes: 32,768 characters (maxLength of a condition's message). */
const LONGEST_MESSAGE = 4 * 32_768;

/** A condition of an object's status, complete, because a write replaces the whole list. */
const condition = {
  type: string(1),
  /** `True`, `False` or `Unknown`. */
  status: string(2),
  observedGeneration: optionalInt(3),
  /** As the server has it: RFC 3339. */
  lastTransitionTime: string(4),
  reason: string(5),
  message: string(6, LONGEST_MESSAGE),
} as const;

export type Condition = Projected<typeof condition>;

/** Exports the Service of its name and namespace to the clusters of the set. */
export const serviceExportKind = {
  ...multicluster,
  kind: 'ServiceExport',
  plural: 'serviceexports',
  fields: {
    metadata: message(1, ownedMetadata),
    spec: message(2, { exportedLabels: stringMap(1), exportedAnnotations: stringMap(2) }),
    status: message(3, { conditions: messages(1, condition, 100) }),
  },
} as const satisfies Kind;

export type ServiceExport = KubeObject<typeof serviceExportKind>;

/** A Service of the cluster set. Unset texts are `''`, a `timeoutSeconds` of 0 is unset. */
export const serviceImportKind = {
  ...multicluster,
  kind: 'ServiceImport',
  plural: 'serviceimports',
  fields: {
    metadata: message(1, ownedMetadata),
    spec: message(2, {
      // As many as a Service may have.
      ports: messages(1, { name: string(1), protocol: string(2), appProtocol: string(3), port: int(4) }, 20_000),
      ips: strings(2, 10),
      type: string(3),
      sessionAffinity: string(4),
      sessionAffinityConfig: message(5, { clientIP: message(1, { timeoutSeconds: int(1) }) }),
      ipFamilies: strings(6, 10),
      internalTrafficPolicy: string(7),
      trafficDistribution: string(8),
    }),
    status: message(3, {
      clusters: messages(1, { cluster: string(1) }),
      conditions: messages(2, condition, 100),
      endpointSliceObjects: string(3),
    }),
  },
} as const satisfies Kind;

export type ServiceImport = KubeObject<typeof serviceImportKind>;
