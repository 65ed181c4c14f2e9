import { int, message, messages, optionalMessage, string, strings } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';
import { labelSelector } from './network-policy.ts';

// Custom resources have no protobuf, so the numbers in these tables aren't used.
const pods = {
  namespaces: optionalMessage(1, labelSelector),
  pods: optionalMessage(2, { namespaceSelector: message(1, labelSelector), podSelector: message(2, labelSelector) }),
} as const;

const peers = messages(1, { ...pods, networks: strings(3, 100) }, 100);

const range = { start: int(1), end: int(2) } as const;
const attributes = optionalMessage(1, {
  destinationPort: optionalMessage(1, { number: int(1), range: optionalMessage(2, range) }),
});

const rule = {
  action: string(1),
  ports: messages(
    2,
    {
      portNumber: optionalMessage(1, { protocol: string(1), port: int(2) }),
      portRange: optionalMessage(2, { protocol: string(3), ...range }),
      namedPort: string(3),
    },
    100,
  ),
  protocols: messages(3, { tcp: attributes, udp: attributes, sctp: attributes, destinationNamedPort: string(4) }, 100),
} as const;

const fields = {
  metadata: message(1, identity),
  spec: message(2, {
    tier: string(1),
    priority: int(2),
    subject: message(3, pods),
    ingress: messages(4, { ...rule, from: peers }, 100),
    egress: messages(5, { ...rule, to: peers }, 100),
  }),
} as const;

const group = 'policy.networking.k8s.io';

const kindOf = <K extends string, V extends string>(kind: K, version: V, plural: string) =>
  ({ group, version, kind, plural, protobuf: false, fields }) as const satisfies Kind;

/**
 * Policies for a whole cluster: of each kind, the only version that has it. Only a ClusterNetworkPolicy has a `tier` and
 * `protocols`, only the others have `ports`. A peer has one field: without any, it has one that isn't in the table.
 */
export const clusterPolicyKinds = [
  kindOf('ClusterNetworkPolicy', 'v1alpha2', 'clusternetworkpolicies'),
  kindOf('AdminNetworkPolicy', 'v1alpha1', 'adminnetworkpolicies'),
  kindOf('BaselineAdminNetworkPolicy', 'v1alpha1', 'baselineadminnetworkpolicies'),
] as const;

export type ClusterPolicy = KubeObject<(typeof clusterPolicyKinds)[number]>;
