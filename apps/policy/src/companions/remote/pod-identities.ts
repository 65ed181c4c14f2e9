import {
  type ConfigLabels,
  type CrossClusterRule,
  type Labels,
  type PeerPod,
  peerText,
  type PodIdentity,
  remoteNamespaceLabels,
  type RemotePeer,
  type SelectedPod,
  selects,
  selectsPod,
} from '@kube-semaphore/network-policies';

export type PodIdentitiesOptions = ConfigLabels & {
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

type Namespace = {
  /** Undefined until the namespace is known, and no peer selects its Pods: unknown is not unlabelled. */
  labels: Labels | undefined;
  /** By the text of their identity. */
  readonly groups: Map<string, Group>;
};

/**
 * Finds the Pods of a remote that a peer selects. Selectors are compared with identities, of which there are few, and each
 * pair once: a change of a Pod costs what the peers cost that select it. A peer whose podSelector asks for a label is only
 * compared with identities that have it, and a change of a namespace concerns only peers whose namespaceSelector it changes.
 */
export class PodIdentities {
  readonly #options: PodIdentitiesOptions;
  readonly #namespaces = new Map<string, Namespace>();
  /** Names of namespaces without known labels. */
  readonly #unplaced = new Set<string>();
  readonly #selections = new Map<string, Selection>();
  /** The same by `anchorsOf`: by key and value. */
  readonly #anchored = new Map<string, Map<string | undefined, Set<Selection>>>();
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
    return this.#namespaces.get(identity.namespace)?.groups.get(identity.text)?.identity ?? identity;
  }

  /** Whether there are Pods whose namespace is not known. */
  get hasUnplaced(): boolean {
    return this.#unplaced.size > 0;
  }

  /** The addresses of these Pods. */
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
    const before = entry.labels;
    const after = labels && remoteNamespaceLabels(name, labels, this.#options);
    const isIn = ({ peer }: Selection, each: Labels | undefined) =>
      each !== undefined && selects(peer.namespaceSelector, each);
    const moved = new Set([...this.#selections.values()].filter((each) => isIn(each, before) !== isIn(each, after)));
    entry.labels = after;
    if (labels === undefined) this.#unplaced.add(name);
    else this.#unplaced.delete(name);
    const changed = new Set<string>();
    for (const group of moved.size === 0 ? [] : entry.groups.values())
      for (const selection of this.#candidates(group))
        if (moved.has(selection) && this.#select(selection, group)) addAll(changed, selection.sources);
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
    const removed = previous && this.#namespaces.get(previous.namespace)?.groups.get(previous.text);
    if (removed !== undefined && removed !== added) removed.pods.delete(name);
    for (const { sources } of added?.selectedBy ?? []) addAll(changed, sources);
    if (removed !== added) for (const { sources } of removed?.selectedBy ?? []) addAll(changed, sources);
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
    for (const [key, value] of anchorsOf(peer)) {
      const byValue = this.#anchored.get(key) ?? new Map<string | undefined, Set<Selection>>();
      const anchored = byValue.get(value) ?? new Set();
      this.#anchored.set(key, byValue.set(value, anchored.add(selection)));
    }
    for (const { groups } of this.#namespaces.values())
      for (const group of groups.values()) this.#select(selection, group);
    return selection;
  }

  #leave(text: string, source: string): void {
    const selection = this.#selections.get(text)!;
    selection.sources.delete(source);
    if (selection.sources.size > 0) return;
    this.#selections.delete(text);
    for (const [key, value] of anchorsOf(selection.peer)) {
      const byValue = this.#anchored.get(key);
      const anchored = byValue?.get(value);
      anchored?.delete(selection);
      if (anchored?.size === 0) byValue!.delete(value);
      if (byValue?.size === 0) this.#anchored.delete(key);
    }
    for (const group of selection.groups) group.selectedBy.delete(selection);
  }

  /** The selections that may select a group, whatever its namespace is. */
  #candidates({ identity: { labels } }: Group): readonly Selection[] {
    const found = [...(this.#anchored.get(NO_ANCHOR)?.get(undefined) ?? [])];
    for (const key in labels) {
      const byValue = this.#anchored.get(key);
      if (byValue !== undefined) found.push(...(byValue.get(undefined) ?? []), ...(byValue.get(labels[key]) ?? []));
    }
    return found;
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
    const known = groups.get(identity.text);
    if (known !== undefined) return known;
    const group: Group = { identity, pods: new Map(), selectedBy: new Set() };
    groups.set(identity.text, group);
    for (const selection of this.#candidates(group)) this.#select(selection, group);
    return group;
  }

  #drop(group: Group): void {
    for (const selection of group.selectedBy) selection.groups.delete(group);
    const { namespace, text } = group.identity;
    this.#namespaces.get(namespace)!.groups.delete(text);
    this.#forgetIfGone(namespace);
  }

  #forgetIfGone(namespace: string): void {
    const { labels, groups } = this.#namespaces.get(namespace)!;
    if (labels !== undefined || groups.size > 0) return;
    this.#namespaces.delete(namespace);
    this.#unplaced.delete(namespace);
  }

  #namespace(name: string): Namespace {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const entry: Namespace = { labels: undefined, groups: new Map() };
    this.#namespaces.set(name, entry);
    this.#unplaced.add(name);
    return entry;
  }
}

const NO_ANCHOR = '';

/** Labels, or keys with any value (undefined), of which every Pod has one that the peer selects; or `NO_ANCHOR`. */
function anchorsOf({
  podSelector: { matchLabels, matchExpressions },
}: RemotePeer): readonly (readonly [key: string, value: string | undefined])[] {
  for (const key in matchLabels) return [[key, matchLabels[key]]];
  const oneOf = matchExpressions.find(({ operator }) => operator === 'In');
  if (oneOf !== undefined) return oneOf.values.map((value) => [oneOf.key, value]);
  return [[matchExpressions.find(({ operator }) => operator === 'Exists')?.key ?? NO_ANCHOR, undefined]];
}

function addAll<T>(to: Set<T>, from: Iterable<T>): void {
  for (const each of from) to.add(each);
}
