import type { ClusterIds, ClusterKey, CrossClusterRule, RemotePeer } from './cross-cluster-rules.ts';
import type { PolicyDiagnostic } from './policy-diagnostics.ts';
import { requirementsOn, selects } from './selector.ts';

/** The values of the cluster label that local Namespaces have; undefined is in it if a Namespace has none. */
export type LocalValues = ReadonlySet<string | undefined>;

/** Whether a peer reaches every remote that is added later, too. */
export function isOpen(peer: RemotePeer, key: ClusterKey): boolean {
  const operators = new Set(requirementsOn(key, peer.namespaceSelector).map(({ operator }) => operator));
  return !operators.has('In') && !operators.has('DoesNotExist');
}

/**
 * What the CNI makes of peers that name the cluster label, where local Namespaces don't have it: a peer for this cluster
 * selects nothing, and a peer for all others selects everything.
 */
export function localHalfDiagnostics(
  rules: readonly CrossClusterRule[],
  ids: ClusterIds,
  values: LocalValues,
): readonly PolicyDiagnostic[] {
  const found = rules.flatMap(({ peers }) => peers.flatMap((peer) => localHalf(peer, ids, values) ?? []));
  return [...new Map(found.map((each) => [each.detail, each])).values()];
}

function localHalf(peer: RemotePeer, { key, remotes, local }: ClusterIds, values: LocalValues) {
  if (allowsValue(peer, key, undefined)) {
    if (!values.has(undefined)) return undefined;
    const excluded = requirementsOn(key, peer.namespaceSelector).flatMap((each) =>
      each.operator === 'NotIn' ? each.values : [],
    );
    const us = excluded.find((id) => (local === undefined ? !remotes.has(id) : id === local));
    return us === undefined ? undefined : unlabelledToo(key, us);
  }
  const isForUs = local === undefined ? isOpen(peer, key) : allowsValue(peer, key, local);
  const isSelected = (value: string | undefined): boolean => value !== undefined && allowsValue(peer, key, value);
  return isForUs && ![...values].some(isSelected) ? noLocalPod(key, local) : undefined;
}

function allowsValue({ namespaceSelector }: RemotePeer, key: ClusterKey, value: string | undefined): boolean {
  const selector = { matchLabels: {}, matchExpressions: requirementsOn(key, namespaceSelector) };
  return selects(selector, value === undefined ? {} : { [key]: value });
}

const unlabelledToo = (key: ClusterKey, us: string): PolicyDiagnostic => ({
  kind: 'problem',
  reason: 'local-namespaces-unlabelled',
  detail: `it excludes the cluster ${us}, but also selects every local namespace without the label ${key}: label them`,
});

const noLocalPod = (key: ClusterKey, us = 'of this cluster'): PolicyDiagnostic => ({
  kind: 'expected',
  reason: 'local-namespaces-unlabelled',
  detail: `it selects no local Pod, as no local namespace has the label ${key} with the value ${us}`,
});

/** What is wrong with the cluster label of a local Namespace, whose Pods then pass for those of a remote. */
export function namespaceDiagnostics(
  value: string | undefined,
  { key, remotes }: ClusterIds,
): readonly PolicyDiagnostic[] {
  if (value === undefined || !remotes.has(value)) return [];
  const detail = `the label ${key} says that it is of the remote ${value}: what a NetworkPolicy allows to ${value}, it allows to its Pods`;
  return [{ kind: 'problem', reason: 'local-namespace-of-remote', detail }];
}
