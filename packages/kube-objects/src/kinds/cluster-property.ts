import { message, string } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/**
 * A property of a cluster (KEP-2149): `cluster.clusterset.k8s.io` is its name, `clusterset.k8s.io` the set that it belongs
 * to. A custom resource, so the field numbers aren't used.
 */
export const clusterPropertyKind = {
  group: 'about.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterProperty',
  plural: 'clusterproperties',
  protobuf: false,
  fields: {
    metadata: message(1, identity),
    // The schema has no limit.
    spec: message(2, { value: string(1, 128 * 1024) }),
  },
} as const satisfies Kind;

export type ClusterProperty = KubeObject<typeof clusterPropertyKind>;
