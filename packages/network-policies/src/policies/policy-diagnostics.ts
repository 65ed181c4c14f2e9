import type { LabelSelector, NetworkPolicy } from '@kube-semaphore/kube-objects';
import { configLabelPrefix } from '../names.ts';
import {
  type ClusterIds,
  type ClusterKey,
  type CrossClusterRule,
  excludedClusters,
  namedClusters,
} from './cross-cluster-rules.ts';
import type { Sink, Source } from '../companions/companion.ts';
import { requirementsOn } from './selector.ts';

/** What has no effect in a NetworkPolicy of a user, or another one than it seems to have. */
export type PolicyDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason:
    | 'unknown-cluster'
    | 'cluster-label-in-pod-selector'
    | 'cluster-label-missing'
    | 'local-namespace-of-remote'
    | 'local-namespaces-unlabelled'
    | 'not-extended'
    | 'selector-too-long'
    | 'wrong-cluster-label';
  readonly detail: string;
};

/** A cluster that the rules of a NetworkPolicy name, and that is neither configured nor this one. */
export type UnknownCluster = { readonly cluster: string; readonly isExcluded: boolean };

/** Each once, sorted. One that is only excluded may be this cluster, unless we know how that is called. */
export function unknownClusters(
  rules: readonly CrossClusterRule[],
  { key, remotes, local }: ClusterIds,
): readonly UnknownCluster[] {
  const peers = rules.flatMap((rule) => rule.peers);
  const isUnknown = (cluster: string): boolean => cluster !== local && !remotes.has(cluster);
  const named = new Set(peers.flatMap((peer) => namedClusters(peer, key)).filter(isUnknown));
  const excluded = local === undefined ? [] : peers.flatMap((peer) => excludedClusters(peer, key)).filter(isUnknown);
  return [...new Set([...named, ...excluded])]
    .toSorted()
    .map((cluster) => ({ cluster, isExcluded: !named.has(cluster) }));
}

/** What is wrong with a NetworkPolicy whatever clusters there are. */
export function policyDiagnostics(
  { ingress, egress }: NetworkPolicy['spec'],
  key: ClusterKey,
): readonly PolicyDiagnostic[] {
  const peers = [...ingress.flatMap(({ from }) => from), ...egress.flatMap(({ to }) => to)];
  const misplaced = peers.some(({ podSelector }) => requirementsOn(key, podSelector).length > 0);
  const alone = peers.flatMap(({ namespaceSelector }) =>
    namespaceSelector === undefined || requirementsOn(key, namespaceSelector).length > 0
      ? []
      : configLabelsIn(namespaceSelector),
  );
  return [
    ...(misplaced ? [clusterLabelInPodSelector(key)] : []),
    ...(alone.length === 0 ? [] : [clusterLabelMissing(key, alone[0]!)]),
  ];
}

export const unknownClusterDiagnostic = ({ cluster, isExcluded }: UnknownCluster): PolicyDiagnostic => ({
  kind: 'expected',
  reason: 'unknown-cluster',
  detail: isExcluded
    ? `it excludes the cluster ${cluster}, which is not a remote in the config, so this excludes nothing`
    : `it names the cluster ${cluster}, which is not a remote in the config`,
});

const configLabelsIn = ({ matchLabels, matchExpressions }: LabelSelector): readonly string[] =>
  [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)].filter((key) =>
    key.startsWith(configLabelPrefix),
  );

const clusterLabelMissing = (key: ClusterKey, named: string): PolicyDiagnostic => ({
  kind: 'problem',
  reason: 'cluster-label-missing',
  detail: `a namespaceSelector has ${named}, but not ${key}, so it reaches no other cluster: add ${key} with the operator Exists`,
});

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
