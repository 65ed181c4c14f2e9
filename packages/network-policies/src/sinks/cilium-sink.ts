import { customResourceKind, type NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import type { Source } from '../companions/companion.ts';
import { groupedSink } from './grouped-sink.ts';

/** CiliumNetworkPolicies that refer to CiliumCIDRGroups, of Cilium 1.18 and later. They isolate no Pod, whatever they allow. */
export const ciliumSink = groupedSink({
  groups: customResourceKind({ apiVersion: 'cilium.io/v2', kind: 'CiliumCIDRGroup', plural: 'ciliumcidrgroups' }),
  policies: customResourceKind({
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNetworkPolicy',
    plural: 'ciliumnetworkpolicies',
  }),
  addresses: 'externalCIDRs',
  accepts: () => true,
  policyName: (companion) => companion,
  policySpec: ({ podSelector }, direction, rules) => ({
    endpointSelector: endpointSelector(podSelector),
    enableDefaultDeny: { ingress: false, egress: false },
    [direction]: rules.map(({ ports, group }) => ({
      [direction === 'ingress' ? 'fromCIDRSet' : 'toCIDRSet']: [{ cidrGroupRef: group }],
      ...(ports.length === 0
        ? {}
        : { toPorts: chunksOf(MOST_PORTS, ports.map(writtenPort)).map((some) => ({ ports: some })) }),
    })),
  }),
});

/** The API server refuses more in one list. */
const MOST_PORTS = 40;

/** Cilium knows labels of several sources: with `k8s:` only the label of the Pod counts. */
function endpointSelector({ matchLabels, matchExpressions }: Source['podSelector']): object {
  const labels = Object.entries(matchLabels).map(([key, value]) => [`k8s:${key}`, value]);
  const expressions = matchExpressions.map(({ key, operator, values }) => ({
    key: `k8s:${key}`,
    operator,
    ...(values.length === 0 ? {} : { values }),
  }));
  return {
    ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) as object }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}

/** Port `0` is every port of the protocol. */
const writtenPort = ({ protocol, port, endPort }: NetworkPolicyPort): object => ({
  port: String(port),
  protocol,
  ...(endPort === 0 ? {} : { endPort }),
});

const chunksOf = <T>(size: number, items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
