import type { KubeObject } from '../test-cluster.ts';

type Port = { readonly protocol?: string };
type Rule = { readonly ports?: readonly Port[] };
type Spec = {
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
  readonly policyTypes?: readonly string[];
};

/** As SetDefaults_NetworkPolicy and SetDefaults_NetworkPolicyPort of kubernetes/pkg/apis/networking/v1. */
export function defaultNetworkPolicy(policy: KubeObject): KubeObject {
  const spec = (policy['spec'] ?? {}) as Spec;
  const { ingress, egress } = spec;
  const policyTypes = spec.policyTypes ?? [
    'Ingress',
    ...(egress === undefined || egress.length === 0 ? [] : ['Egress']),
  ];
  return {
    ...policy,
    spec: {
      podSelector: {},
      ...spec,
      ...(ingress && { ingress: ingress.map(withProtocols) }),
      ...(egress && { egress: egress.map(withProtocols) }),
      policyTypes,
    },
  };
}

const withProtocols = (rule: Rule): Rule =>
  rule.ports === undefined ? rule : { ...rule, ports: rule.ports.map((port) => ({ protocol: 'TCP', ...port })) };
