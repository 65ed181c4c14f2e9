import { message, messages, optionalMessage, string } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';
import { labelSelector } from './network-policy.ts';

// Custom resources have no protobuf, so the numbers in these tables aren't used.
const peers = messages(
  1,
  {
    namespaces: optionalMessage(1, labelSelector),
    pods: optionalMessage(2, { namespaceSelector: message(1, labelSelector), podSelector: message(2, labelSelector) }),
  },
  100,
);

const fields = {
  metadata: message(1, identity),
  spec: message(2, {
    ingress: messages(1, { action: string(1), from: peers }, 100),
    egress: messages(2, { action: string(1), to: peers }, 100),
  }),
} as const;

const group = 'policy.networking.k8s.io';

const kindOf = <K extends string>(kind: K, version: string, plural: string) =>
  ({ group, version, kind, plural, protobuf: false, fields }) as const satisfies Kind;

/** Policies for a whole cluster, as far as their rules select Pods: of each, the only version that has it. */
export const clusterPolicyKinds = [
  kindOf('ClusterNetworkPolicy', 'v1alpha2', 'clusternetworkpolicies'),
  kindOf('AdminNetworkPolicy', 'v1alpha1', 'adminnetworkpolicies'),
  kindOf('BaselineAdminNetworkPolicy', 'v1alpha1', 'baselineadminnetworkpolicies'),
] as const;

export type ClusterPolicy = KubeObject<(typeof clusterPolicyKinds)[number]>;
