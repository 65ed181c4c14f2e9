import { hash } from 'node:crypto';
import type { LabelSelector, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import { configLabelPrefix } from '../names.ts';
import { type Labels, requirementsOn, selects } from './selector.ts';

export type Direction = 'ingress' | 'egress';

/** A peer that reaches other clusters. */
export type RemotePeer = { readonly namespaceSelector: LabelSelector; readonly podSelector: LabelSelector };

/** What a policy allows to, or from, some peers of other clusters; there is at least one peer. */
export type CrossClusterRule = {
  readonly direction: Direction;
  /** Empty: all ports of all protocols. */
  readonly ports: readonly NetworkPolicyPort[];
  readonly peers: readonly RemotePeer[];
  /** Names the peers: no other rule of this direction has it. */
  readonly peersHash: string;
};

/** Key of the label of a namespace that names its cluster, by NPEP-311 and KEP-2149: `-clusterset-key`. */
export type ClusterKey = string;

/** The cluster label, and the values that clusters have. */
export type ClusterIds = {
  readonly key: ClusterKey;
  readonly remotes: ReadonlySet<string>;
  /** Of the local cluster, as far as it is configured. */
  readonly local: string | undefined;
};

/**
 * What a policy allows to peers of other clusters. A peer reaches other clusters if and only if its namespaceSelector names
 * the cluster label, with any operator: docs/network-policies.md. A rule without peers already allows the whole world, so it adds
 * nothing. Rules with the same peers are one rule with the ports of all.
 */
export function crossClusterRules(spec: NetworkPolicy['spec'], key: ClusterKey): readonly CrossClusterRule[] {
  return (['ingress', 'egress'] as const).flatMap((direction) => {
    if (!spec.policyTypes.includes(TYPES[direction])) return [];
    const byPeers = new Map<string, CrossClusterRule>();
    for (const rule of spec[direction]) {
      const remote = remotePeers('from' in rule ? rule.from : rule.to, key);
      if (remote.length === 0) continue;
      const peersHash = hashOf(remote);
      const same = byPeers.get(peersHash);
      byPeers.set(peersHash, {
        direction,
        ports: same === undefined ? rule.ports : union(same.ports, rule.ports),
        peers: remote,
        peersHash,
      });
    }
    return [...byPeers.values()];
  });
}

const TYPES = { ingress: 'Ingress', egress: 'Egress' } as const;

function remotePeers(peers: readonly NetworkPolicyPeer[], key: ClusterKey): readonly RemotePeer[] {
  return peers.flatMap(({ namespaceSelector, podSelector }) =>
    namespaceSelector !== undefined && requirementsOn(key, namespaceSelector).length > 0
      ? [{ namespaceSelector, podSelector }]
      : [],
  );
}

function union(a: readonly NetworkPolicyPort[], b: readonly NetworkPolicyPort[]): readonly NetworkPolicyPort[] {
  return a.length === 0 || b.length === 0 ? [] : [...a, ...b];
}

/**
 * Whether a peer can reach Pods of a cluster, as far as the labels say that our config gives to all of its namespaces.
 *
 * @param labels `remotes[].labels`
 */
export function namesCluster(peer: RemotePeer, key: ClusterKey, id: string, labels: Labels = {}): boolean {
  return selectsByConfig(peer, key, { ...labels, [key]: id });
}

/** Whether a peer can select Pods of a namespace, as far as it has these of the labels that are ours to give. */
export function selectsByConfig(
  { namespaceSelector: { matchLabels, matchExpressions } }: RemotePeer,
  key: ClusterKey,
  labels: Labels,
): boolean {
  const isOfConfig = (each: string): boolean => each === key || each.startsWith(configLabelPrefix);
  const selector = {
    matchLabels: Object.fromEntries(Object.entries(matchLabels).filter(([each]) => isOfConfig(each))),
    matchExpressions: matchExpressions.filter((requirement) => isOfConfig(requirement.key)),
  };
  return selects(selector, labels);
}

/** Whether a peer selects Pods with these labels in a namespace with those; `namespace` carries the cluster label. */
export function selectsPod({ namespaceSelector, podSelector }: RemotePeer, namespace: Labels, pod: Labels): boolean {
  return selects(namespaceSelector, namespace) && selects(podSelector, pod);
}

/** What our config says of all namespaces of a remote: the cluster label, and `remotes[].labels`. */
export type ConfigLabels = { readonly key: ClusterKey; readonly id: string; readonly labels: Labels };

/** The labels of a Namespace of a remote: it has no say in how its cluster and its Namespaces are called. */
export function remoteNamespaceLabels(name: string, own: Labels, { key, id, labels }: ConfigLabels): Labels {
  const others = Object.entries(own).filter(([each]) => !each.startsWith(configLabelPrefix));
  return { ...Object.fromEntries(others), ...labels, [NAMESPACE_NAME]: name, [key]: id };
}

/** The API server sets it on every namespace (KEP-2161). */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** Cluster ids that a peer names one by one, with `In` or in matchLabels. */
export function namedClusters({ namespaceSelector }: RemotePeer, key: ClusterKey): readonly string[] {
  return requirementsOn(key, namespaceSelector).flatMap(({ operator, values }) => (operator === 'In' ? values : []));
}

/** Cluster ids that a peer excludes one by one, with `NotIn`. */
export function excludedClusters({ namespaceSelector }: RemotePeer, key: ClusterKey): readonly string[] {
  return requirementsOn(key, namespaceSelector).flatMap(({ operator, values }) => (operator === 'NotIn' ? values : []));
}

/** Text with the same meaning for selectors that differ in the order of keys only. */
export function peerText({ namespaceSelector, podSelector }: RemotePeer): string {
  return JSON.stringify([canonical(namespaceSelector), canonical(podSelector)]);
}

function canonical({ matchLabels, matchExpressions }: LabelSelector): unknown {
  const labels = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const expressions = matchExpressions.map(({ key, operator, values }) =>
    JSON.stringify([key, operator, values.toSorted()]),
  );
  return [labels, expressions.toSorted()];
}

function hashOf(peers: readonly RemotePeer[]): string {
  return hash('sha256', peers.map(peerText).toSorted().join('\n'), 'hex').slice(0, 20);
}
