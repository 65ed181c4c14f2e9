import { quoted } from '@kube-semaphore/text';
import {
  type ClusterIds,
  type ClusterKey,
  type CrossClusterRule,
  type Direction,
  excludedClusters,
  type RemotePeer,
  selectsByConfig,
} from './cross-cluster-rules.ts';
import type { PolicyDiagnostic } from './policy-diagnostics.ts';
import { portsText } from './ports.ts';
import { requirementsOn } from './selector.ts';

/** The values of the cluster label that local Namespaces have; undefined is in it if a Namespace has none. */
export type LocalValues = ReadonlySet<string | undefined>;

/** Whether a peer reaches every remote that is added later, too. */
export function isOpen(peer: RemotePeer, key: ClusterKey): boolean {
  const operators = new Set(requirementsOn(key, peer.namespaceSelector).map(({ operator }) => operator));
  return !operators.has('In') && !operators.has('DoesNotExist');
}

/**
 * Whether a peer also selects local Namespaces, with or without the label: `NotIn` with the names of other clusters only.
 * One that excludes this cluster may do so, too, which is a problem: `localHalfDiagnostics`.
 */
function isOpenHere(peer: RemotePeer, ids: ClusterIds): boolean {
  return isOpen(peer, ids.key) && allowsValue(peer, ids.key, undefined) && excludedAsUs(peer, ids) === undefined;
}

/** What one rule of a NetworkPolicy reaches beyond the clusters that it names. */
export type OpenRule = {
  /** `namespace/name`. */
  readonly networkPolicy: string;
  readonly direction: Direction;
  /** `5432/TCP`; empty: all. */
  readonly ports: string;
  /** Whether it also reaches every remote that is added later. */
  readonly isOpen: boolean;
  /** Whether it also reaches local Pods, whether their namespaces have the label or not. */
  readonly isOpenHere: boolean;
};

export const openRuleOf = (networkPolicy: string, rule: CrossClusterRule, ids: ClusterIds): OpenRule => ({
  networkPolicy,
  direction: rule.direction,
  ports: portsText(rule.ports),
  isOpen: rule.peers.some((peer) => isOpen(peer, ids.key)),
  isOpenHere: rule.peers.some((peer) => isOpenHere(peer, ids)),
});

/** For people: `alpha/db: ingress on 5432/TCP from`. */
export const ruleTitle = ({ networkPolicy, direction, ports }: OpenRule): string =>
  `${networkPolicy}: ${direction} on ${ports || 'all ports'} ${direction === 'ingress' ? 'from' : 'to'}`;

/** For people: a line for everything that the rule reaches beyond what it names. */
export function openTexts(rule: OpenRule): readonly string[] {
  return [
    ...(rule.isOpen ? [`${ruleTitle(rule)} every remote that is added later`] : []),
    ...(rule.isOpenHere ? [`${ruleTitle(rule)} local namespaces, too, with or without the label`] : []),
  ];
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

function localHalf(peer: RemotePeer, ids: ClusterIds, values: LocalValues) {
  const { key, local } = ids;
  if (allowsValue(peer, key, undefined)) {
    if (!values.has(undefined)) return undefined;
    const us = excludedAsUs(peer, ids);
    return us === undefined ? undefined : unlabelledToo(key, us, local === undefined);
  }
  const isForUs = local === undefined ? isOpen(peer, key) : allowsValue(peer, key, local);
  const isSelected = (value: string | undefined): boolean => value !== undefined && allowsValue(peer, key, value);
  return isForUs && ![...values].some(isSelected) ? noLocalPod(key, local) : undefined;
}

/** What a peer excludes that is this cluster, or may be. */
function excludedAsUs(peer: RemotePeer, { key, remotes, local }: ClusterIds): string | undefined {
  return excludedClusters(peer, key).find((id) => (local === undefined ? !remotes.has(id) : id === local));
}

/** The labels that our config gives to remotes aren't on local Namespaces. */
const allowsValue = (peer: RemotePeer, key: ClusterKey, value: string | undefined): boolean =>
  selectsByConfig(peer, key, value === undefined ? {} : { [key]: value });

const unlabelledToo = (key: ClusterKey, us: string, isGuess: boolean): PolicyDiagnostic => {
  const hint = isGuess ? `label them, if this cluster is ${us}, and set -local-cluster-name` : 'label them';
  return {
    kind: 'problem',
    reason: 'local-namespaces-unlabelled',
    detail: `it excludes the cluster ${us}, but also selects local namespaces without the label ${key}: ${hint}`,
  };
};

const noLocalPod = (key: ClusterKey, us = 'of this cluster'): PolicyDiagnostic => ({
  kind: 'expected',
  reason: 'local-namespaces-unlabelled',
  detail: `it selects no local Pod: no local namespace has the label ${key} with the value ${us}`,
});

/**
 * What is wrong with the cluster label of a local Namespace. With the value of a remote, its Pods pass for those of it. Another
 * one is wrong if we know how the local cluster is called.
 */
export function namespaceDiagnostics(
  value: string | undefined,
  { key, remotes, local }: ClusterIds,
): readonly PolicyDiagnostic[] {
  if (value === undefined || value === local) return [];
  if (!remotes.has(value)) return local === undefined ? [] : [wrongClusterLabel(key, value, local)];
  const detail = `the label ${key} says that it is of the remote ${value}: what a NetworkPolicy allows to ${value}, it allows to its Pods`;
  return [{ kind: 'problem', reason: 'local-namespace-of-remote', detail }];
}

const wrongClusterLabel = (key: ClusterKey, value: string, local: string): PolicyDiagnostic => ({
  kind: 'problem',
  reason: 'wrong-cluster-label',
  detail: `the label ${key} says ${quoted(value)}, and this cluster is ${local}: what names ${local} does not select its Pods`,
});
