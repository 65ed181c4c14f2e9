import { deepJson, message, messages, string } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { describedMetadata } from './metadata.ts';

/** How to reach the cluster: `cluster` is that of a kubeconfig. */
const accessProvider = { name: string(1), cluster: deepJson } as const;

/**
 * A cluster of an inventory (KEP-4322, sigs.k8s.io/cluster-inventory-api v0.1.2). A custom resource, so the field numbers aren't
 * used.
 */
export const clusterProfileKind = {
  group: 'multicluster.x-k8s.io',
  version: 'v1alpha1',
  kind: 'ClusterProfile',
  plural: 'clusterprofiles',
  protobuf: false,
  fields: {
    metadata: message(1, describedMetadata),
    status: message(3, {
      conditions: messages(1, { type: string(1), status: string(2) }),
      // 1,024 characters.
      properties: messages(3, { name: string(1), value: string(2, 4 * 1024) }),
      accessProviders: messages(5, accessProvider),
      /** The old name of `accessProviders`. */
      credentialProviders: messages(4, accessProvider),
    }),
  },
} as const satisfies Kind;

export type ClusterProfile = KubeObject<typeof clusterProfileKind>;
