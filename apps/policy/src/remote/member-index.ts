import { Admissions } from '@kube-semaphore/multicluster';
import { setKey } from '../names.ts';
import type { Pair } from '../desired/labels.ts';
import type { Member, PairMembers } from '../desired/member.ts';

export type MemberIndexOptions = {
  /** How many pairs can have sets. */
  readonly limit: number;
  /** Whether the cluster has sets of this key already: its pairs are always admitted. */
  readonly hasSet: (key: string) => boolean;
  /** A pair (`namespace/app`) is skipped from now on, because there are too many; or it isn't any more. */
  readonly onSkippedSet: (pair: string, isSkipped: boolean) => void;
};

type Entry = Pair & { readonly key: string; readonly byPod: Map<string, Member> };

/**
 * Finds the members of a key. Fed with each change of the member store, in order, so that a reconcile costs what its
 * own set costs and not 50,000 Pods; a pair's key is computed once, when its first member comes.
 */
export class MemberIndex {
  readonly #cluster: string;
  readonly #options: MemberIndexOptions;
  readonly #admissions: Admissions;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #byKey = new Map<string, Set<Entry>>();

  constructor(cluster: string, options: MemberIndexOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#admissions = new Admissions(options.limit);
  }

  /**
   * One Pod came (`previous` undefined), changed, or went (`current` undefined).
   *
   * @returns the keys whose sets this may change: two if the Pod's label moved it to another set, and that of a pair
   * which there is room for now
   */
  apply(previous: Member | undefined, current: Member | undefined): readonly string[] {
    // Added before removed: a pair with one member keeps its entry while that member changes.
    const added = current === undefined ? undefined : this.#add(current);
    const stays = added !== undefined && previous?.app === added.app && previous.namespace === added.namespace;
    const [removed, next] = previous === undefined || stays ? [] : this.#remove(previous);
    const keys = [added, removed, next].flatMap((entry) => (entry === undefined ? [] : [entry.key]));
    return [...new Set(keys)].toSorted();
  }

  /** Whether any pair is left out, for there are too many. */
  get isOver(): boolean {
    return this.#admissions.isOver;
  }

  /** The pairs of a key that have members, but for those that are left out; in no order. */
  pairs(key: string): readonly PairMembers[] {
    const entries = [...(this.#byKey.get(key) ?? [])].filter((entry) => !this.#admissions.isWaiting(nameOf(entry)));
    return entries.map(({ cluster, namespace, app, byPod }) => ({
      cluster,
      namespace,
      app,
      members: [...byPod.values()],
    }));
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

  /** @returns the pair that it was in, and one that is let in instead if that is empty now */
  #remove(member: Member): readonly [Entry | undefined, Entry | undefined] {
    const entry = this.#entries.get(member.namespace)?.get(member.app);
    entry?.byPod.delete(member.name);
    return [entry, entry?.byPod.size === 0 ? this.#close(entry) : undefined];
  }

  #open({ namespace, app }: Member): Entry {
    const cluster = this.#cluster;
    const entry = { cluster, namespace, app, key: setKey(cluster, namespace, app), byPod: new Map<string, Member>() };
    getOrAdd(this.#entries, namespace, () => new Map<string, Entry>()).set(app, entry);
    getOrAdd(this.#byKey, entry.key, () => new Set<Entry>()).add(entry);
    const pair = nameOf(entry);
    this.#admissions.enter(pair, { isHere: this.#options.hasSet(entry.key) });
    if (this.#admissions.isWaiting(pair)) this.#options.onSkippedSet(pair, true);
    return entry;
  }

  #close(entry: Entry): Entry | undefined {
    const inNamespace = this.#entries.get(entry.namespace);
    inNamespace?.delete(entry.app);
    if (inNamespace?.size === 0) this.#entries.delete(entry.namespace);
    const sharers = this.#byKey.get(entry.key);
    sharers?.delete(entry);
    if (sharers?.size === 0) this.#byKey.delete(entry.key);
    const pair = nameOf(entry);
    const wasSkipped = this.#admissions.isWaiting(pair);
    const next = this.#admissions.leave(pair);
    if (wasSkipped) this.#options.onSkippedSet(pair, false);
    if (next === undefined) return undefined;
    this.#options.onSkippedSet(next, false);
    const [namespace = '', app = ''] = next.split('/');
    return this.#entries.get(namespace)?.get(app);
  }
}

/** Neither part has a slash. */
const nameOf = ({ namespace, app }: Entry): string => `${namespace}/${app}`;

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
