import type { NetworkPolicy } from '@kube-semaphore/kube-objects';
import { type ClusterIds, type ClusterKey, type CrossClusterRule, namedClusters } from './cross-cluster-rules.ts';
import type { Sink, Source } from './companion.ts';
import { requirementsOn } from './selector.ts';

/** What has no effect in a NetworkPolicy of a user, or another one than it seems to have. */
export type PolicyDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason:
    | 'unknown-cluster'
    | 'cluster-label-in-pod-selector'
    | 'local-namespace-of-remote'
    | 'local-namespaces-unlabelled'
    | 'not-extended'
    | 'selector-too-long'
    | 'wrong-cluster-label';
  readonly detail: string;
};

/** The clusters that the rules of a NetworkPolicy name, and that are neither configured nor this one; each once, sorted. */
export function unknownClusters(
  rules: readonly CrossClusterRule[],
  { key, remotes, local }: ClusterIds,
): readonly string[] {
  const named = rules.flatMap(({ peers }) => peers.flatMap((peer) => namedClusters(peer, key)));
  return [...new Set(named)].filter((cluster) => cluster !== local && !remotes.has(cluster)).toSorted();
}

/** @param unknown as of `unknownClusters` */
export function policyDiagnostics(
  { ingress, egress }: NetworkPolicy['spec'],
  key: ClusterKey,
  unknown: readonly string[],
): readonly PolicyDiagnostic[] {
  const peers = [...ingress.flatMap(({ from }) => from), ...egress.flatMap(({ to }) => to)];
  const misplaced = peers.some(({ podSelector }) => requirementsOn(key, podSelector).length > 0);
  return [
    ...unknown.map((cluster) => ({
      kind: 'expected' as const,
      reason: 'unknown-cluster' as const,
      detail: `it names the cluster ${cluster}, which is not a remote in the config`,
    })),
    ...(misplaced ? [clusterLabelInPodSelector(key)] : []),
  ];
}

const clusterLabelInPodSelector = (key: ClusterKey): PolicyDiagnostic => ({
  kind: 'problem',
  reason: 'cluster-label-in-pod-selector',
  detail: `a podSelector has ${key}, which selects no remote Pod: it is a label of namespaces, for the namespaceSelector`,
});

/** Whether the sink can't express which Pods a NetworkPolicy with rules that reach other clusters selects. */
export function selectorDiagnostics(
  rules: readonly CrossClusterRule[],
  source: Source,
  { accepts }: Pick<Sink, 'accepts'>,
): readonly PolicyDiagnostic[] {
  if (rules.length === 0 || accepts(source)) return [];
  const detail = 'its podSelector is too long for a policy of Calico, so its companions are NetworkPolicies';
  return [{ kind: 'problem', reason: 'selector-too-long', detail }];
}
