import {
  type ClusterKey,
  type CrossClusterRule,
  peerText,
  type RemotePeer,
  selectsPod,
} from '../desired/network-policies/cross-cluster-rules.ts';
import type { PeerPod, PodIdentity } from '../desired/network-policies/peer-pod.ts';
import type { SelectedPod } from '../desired/network-policies/ports.ts';
import type { Labels } from '../desired/network-policies/selector.ts';

export type PodIdentitiesOptions = {
  /** Key of the label that names the cluster of a namespace. */
  readonly clusterKey: ClusterKey;
  /** Its value for this remote, whatever the remote says. */
  readonly clusterId: string;
  /** The peers of these sources select other Pods now, or Pods with other addresses. */
  readonly onChange: (sources: ReadonlySet<string>) => void;
};

/** Pods with the same identity, and the peers that select them. */
type Group = {
  readonly identity: PodIdentity;
  /** CIDRs by the name of the Pod. */
  readonly pods: Map<string, readonly string[]>;
  readonly selectedBy: Set<Selection>;
};

/** A peer that some source has, and the groups that it selects. */
type Selection = { readonly peer: RemotePeer; readonly sources: Set<string>; readonly groups: Set<Group> };

/**
 * Finds the Pods of a remote that a peer selects. Selectors are compared with identities, of which there are few, and each
 * pair once: a change of a Pod costs what the peers cost that select it.
 */
export class PodIdentities {
  readonly #options: PodIdentitiesOptions;
  /** Labels are undefined until the namespace is known, and no peer selects its Pods: unknown is not unlabelled. */
  readonly #namespaces = new Map<string, { labels: Labels | undefined; readonly groups: Map<string, Group> }>();
  /** Names of namespaces without known labels. */
  readonly #unplaced = new Set<string>();
  readonly #selections = new Map<string, Selection>();
  readonly #peersOfSource = new Map<string, readonly string[]>();

  constructor(options: PodIdentitiesOptions) {
    this.#options = options;
  }

  /** How many identities there are. */
  get size(): number {
    let size = 0;
    for (const { groups } of this.#namespaces.values()) size += groups.size;
    return size;
  }

  /** The same identity, as a Pod that is known already has it: of 50,000 Pods, some thousand differ. */
  intern(identity: PodIdentity): PodIdentity {
    return this.#groupIfAny(identity)?.identity ?? identity;
  }

  /** The addresses of Pods whose namespace is not known. */
  unplaced(): ReadonlySet<string> {
    const cidrs = new Set<string>();
    for (const name of this.#unplaced)
      for (const { pods } of this.#namespaces.get(name)!.groups.values())
        for (const addresses of pods.values()) addAll(cidrs, addresses);
    return cidrs;
  }

  /** A namespace has these labels; undefined: it is gone. */
  setNamespace(name: string, labels: Labels | undefined): void {
    const entry = this.#namespace(name);
    entry.labels = labels && this.#labelsOf(name, labels);
    if (labels === undefined) this.#unplaced.add(name);
    else this.#unplaced.delete(name);
    const changed = new Set<string>();
    for (const group of entry.groups.values()) {
      for (const selection of this.#selections.values()) {
        if (this.#select(selection, group)) addAll(changed, selection.sources);
      }
    }
    this.#forgetIfGone(name);
    this.#report(changed);
  }

  /**
   * A Pod came, changed, or went.
   *
   * @param previous its identity before, undefined if it is new
   * @param current undefined if it is gone
   */
  setPod(name: string, previous: PodIdentity | undefined, current: PeerPod | undefined): void {
    const changed = new Set<string>();
    const added = current === undefined ? undefined : this.#group(current.identity);
    added?.pods.set(name, current!.cidrs);
    const removed = previous === undefined ? undefined : this.#groupIfAny(previous);
    if (removed !== undefined && removed !== added) removed.pods.delete(name);
    for (const group of new Set([added, removed]))
      for (const { sources } of group?.selectedBy ?? []) addAll(changed, sources);
    if (removed?.pods.size === 0) this.#drop(removed);
    this.#report(changed);
  }

  /** A source has these rules; none: it is gone, or names no other cluster any more. */
  setSource(source: string, rules: readonly CrossClusterRule[]): void {
    const peers = new Map(rules.flatMap((rule) => rule.peers).map((peer) => [peerText(peer), peer]));
    for (const text of this.#peersOfSource.get(source) ?? []) if (!peers.has(text)) this.#leave(text, source);
    for (const [text, peer] of peers) this.#selection(text, peer).sources.add(source);
    if (peers.size === 0) this.#peersOfSource.delete(source);
    else this.#peersOfSource.set(source, [...peers.keys()]);
  }

  /** The Pods that the peers of a rule select; the rule is one of a source that was set. */
  podsOf({ peers }: CrossClusterRule): readonly SelectedPod[] {
    const groups = new Set(peers.flatMap((peer) => [...(this.#selections.get(peerText(peer))?.groups ?? [])]));
    return [...groups].flatMap(({ identity: { namedPorts }, pods }) =>
      Array.from(pods.values(), (cidrs) => ({ cidrs, namedPorts })),
    );
  }

  #report(sources: ReadonlySet<string>): void {
    if (sources.size > 0) this.#options.onChange(sources);
  }

  #selection(text: string, peer: RemotePeer): Selection {
    const known = this.#selections.get(text);
    if (known !== undefined) return known;
    const selection: Selection = { peer, sources: new Set(), groups: new Set() };
    this.#selections.set(text, selection);
    for (const { groups } of this.#namespaces.values())
      for (const group of groups.values()) this.#select(selection, group);
    return selection;
  }

  #leave(text: string, source: string): void {
    const selection = this.#selections.get(text)!;
    selection.sources.delete(source);
    if (selection.sources.size > 0) return;
    this.#selections.delete(text);
    for (const group of selection.groups) group.selectedBy.delete(selection);
  }

  /** @returns whether anything changed */
  #select(selection: Selection, group: Group): boolean {
    const { namespace, labels } = group.identity;
    const namespaceLabels = this.#namespaces.get(namespace)!.labels;
    const isSelected = namespaceLabels !== undefined && selectsPod(selection.peer, namespaceLabels, labels);
    if (isSelected === group.selectedBy.has(selection)) return false;
    if (isSelected) {
      group.selectedBy.add(selection);
      selection.groups.add(group);
    } else {
      group.selectedBy.delete(selection);
      selection.groups.delete(group);
    }
    return true;
  }

  #group(identity: PodIdentity): Group {
    const { groups } = this.#namespace(identity.namespace);
    const text = identityText(identity);
    const known = groups.get(text);
    if (known !== undefined) return known;
    const group: Group = { identity, pods: new Map(), selectedBy: new Set() };
    groups.set(text, group);
    for (const selection of this.#selections.values()) this.#select(selection, group);
    return group;
  }

  #groupIfAny(identity: PodIdentity): Group | undefined {
    return this.#namespaces.get(identity.namespace)?.groups.get(identityText(identity));
  }

  #drop(group: Group): void {
    for (const selection of group.selectedBy) selection.groups.delete(group);
    const { namespace } = group.identity;
    this.#namespaces.get(namespace)!.groups.delete(identityText(group.identity));
    this.#forgetIfGone(namespace);
  }

  #forgetIfGone(namespace: string): void {
    const { labels, groups } = this.#namespaces.get(namespace)!;
    if (labels !== undefined || groups.size > 0) return;
    this.#namespaces.delete(namespace);
    this.#unplaced.delete(namespace);
  }

  #namespace(name: string) {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const entry = { labels: undefined, groups: new Map<string, Group>() };
    this.#namespaces.set(name, entry);
    this.#unplaced.add(name);
    return entry;
  }

  /** A remote has no say in how its cluster and its namespaces are called. */
  #labelsOf(namespace: string, labels: Labels): Labels {
    const { clusterKey, clusterId } = this.#options;
    return { ...labels, [NAMESPACE_NAME]: namespace, [clusterKey]: clusterId };
  }
}

/** The API server sets it on every namespace (KEP-2161). */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

function identityText({ labels, namedPorts }: PodIdentity): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, namedPorts]);
}

function addAll<T>(to: Set<T>, from: Iterable<T>): void {
  for (const each of from) to.add(each);
}
