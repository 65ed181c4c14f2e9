import { setKey } from '@kube-semaphore/naming';
import type { Member } from './membership.ts';
import type { Pair } from './set-labels.ts';

/** A set's pair and who is in it; at least one member, in no order. */
export type PairMembers = Pair & { readonly members: readonly Member[] };

type Entry = Pair & { readonly key: string; readonly byPod: Map<string, Member> };

/**
 * Finds the members of a key. Fed with each change of the member store, in order, so that a reconcile costs what its
 * own set costs and not 50,000 Pods; a pair's key is computed once, when its first member comes.
 */
export class MemberIndex {
  readonly #cluster: string;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #byKey = new Map<string, Set<Entry>>();

  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  /**
   * One Pod came (`previous` undefined), changed, or went (`current` undefined).
   *
   * @returns the keys whose sets this may change: two if the Pod's label moved it to another set
   */
  apply(previous: Member | undefined, current: Member | undefined): readonly string[] {
    // Added before removed: a pair with one member keeps its entry while that member changes.
    const added = current === undefined ? undefined : this.#add(current);
    const stays = added !== undefined && previous?.app === added.app && previous.namespace === added.namespace;
    const removed = previous === undefined || stays ? undefined : this.#remove(previous);
    if (added === undefined || removed === undefined) return keysOf(added ?? removed);
    return added.key === removed.key ? keysOf(added) : [added.key, removed.key].toSorted();
  }

  /** The pairs of a key that have members, in no order. */
  pairs(key: string): readonly PairMembers[] {
    const entries = this.#byKey.get(key) ?? [];
    return Array.from(entries, ({ cluster, namespace, app, byPod }) => ({ cluster, namespace, app, members: [...byPod.values()] }));
  }

  /** All keys that have members, sorted. */
  keys(): readonly string[] {
    return [...this.#byKey.keys()].toSorted();
  }

  #add(member: Member): Entry {
    const entry = this.#entries.get(member.namespace)?.get(member.app) ?? this.#open(member);
    entry.byPod.set(member.name, member);
    return entry;
  }

  #remove(member: Member): Entry | undefined {
    const entry = this.#entries.get(member.namespace)?.get(member.app);
    entry?.byPod.delete(member.name);
    if (entry?.byPod.size === 0) this.#close(entry);
    return entry;
  }

  #open({ namespace, app }: Member): Entry {
    const cluster = this.#cluster;
    const entry = { cluster, namespace, app, key: setKey(cluster, namespace, app), byPod: new Map<string, Member>() };
    getOrAdd(this.#entries, namespace, () => new Map<string, Entry>()).set(app, entry);
    getOrAdd(this.#byKey, entry.key, () => new Set<Entry>()).add(entry);
    return entry;
  }

  #close(entry: Entry): void {
    const inNamespace = this.#entries.get(entry.namespace);
    inNamespace?.delete(entry.app);
    if (inNamespace?.size === 0) this.#entries.delete(entry.namespace);
    const sharers = this.#byKey.get(entry.key);
    sharers?.delete(entry);
    if (sharers?.size === 0) this.#byKey.delete(entry.key);
  }
}

function keysOf(entry: Entry | undefined): readonly string[] {
  return entry === undefined ? [] : [entry.key];
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
