import { Admissions, type DiagnosticRegister } from '@kube-semaphore/multicluster';
import { setKey } from '../../names.ts';
import type { Pair } from '../desired/labels.ts';
import type { Member, PairMembers } from '../desired/member.ts';
import { tooManySets } from './diagnostics.ts';

export type MemberIndexOptions = {
  /** How many pairs can have sets. */
  readonly limit: number;
  /** Whether the cluster has sets of this key already: its pairs are always admitted. */
  readonly hasSet: (key: string) => boolean;
  /** Of the cluster. */
  readonly skipped: Pick<DiagnosticRegister, 'replace'>;
};

type Entry = Pair & { readonly key: string; readonly byPod: Map<string, Member> };

/**
 * Finds the members of a key, so that the cost of a reconcile depends on its set and not on 50,000 Pods. It gets each change
 * of the store, in order. The key of a pair is computed once, when its first member comes.
 */
export class MemberIndex {
  readonly #cluster: string;
  readonly #options: MemberIndexOptions;
  readonly #admissions: Admissions;
  /** By `nameOf`. */
  readonly #entries = new Map<string, Entry>();
  readonly #byKey = new Map<string, Set<Entry>>();

  constructor(cluster: string, options: MemberIndexOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#admissions = new Admissions(options.limit);
  }

  /**
   * One Pod came (`previous` undefined), changed, or went (`current` undefined).
   *
   * @returns the keys whose sets may change: two if the Pod's label moved it to another set, and the key of a pair that is
   * admitted now
   */
  apply(previous: Member | undefined, current: Member | undefined): readonly string[] {
    // Added before removed: a pair with one member keeps its entry while that member changes.
    const added = current === undefined ? undefined : this.#add(current);
    const stays = added !== undefined && previous?.app === added.app && previous.namespace === added.namespace;
    const [removed, next] = previous === undefined || stays ? [] : this.#remove(previous);
    const keys = [added, removed, next].flatMap((entry) => (entry === undefined ? [] : [entry.key]));
    return [...new Set(keys)].toSorted();
  }

  /** Whether a pair is skipped, because there are too many. */
  get isOver(): boolean {
    return this.#admissions.isOver;
  }

  /** The pairs of a key that have members, without skipped ones; in no order. */
  pairs(key: string): readonly PairMembers[] {
    const entries = [...(this.#byKey.get(key) ?? [])].filter((entry) => !this.#admissions.isWaiting(nameOf(entry)));
    return entries.map(({ cluster, namespace, app, byPod }) => {
      return { cluster, namespace, app, members: [...byPod.values()] };
    });
  }

  /** All keys that have members, sorted. */
  keys(): readonly string[] {
    return [...this.#byKey.keys()].toSorted();
  }

  #add(member: Member): Entry {
    const entry = this.#entries.get(nameOf(member)) ?? this.#open(member);
    entry.byPod.set(member.name, member);
    return entry;
  }

  /** @returns the pair that it was in, and the pair that is admitted instead if that is empty now */
  #remove(member: Member): readonly [Entry | undefined, Entry | undefined] {
    const entry = this.#entries.get(nameOf(member));
    entry?.byPod.delete(member.name);
    return [entry, entry?.byPod.size === 0 ? this.#close(entry) : undefined];
  }

  #open({ namespace, app }: Member): Entry {
    const cluster = this.#cluster;
    const entry = { cluster, namespace, app, key: setKey(cluster, namespace, app), byPod: new Map<string, Member>() };
    const pair = nameOf(entry);
    this.#entries.set(pair, entry);
    this.#byKey.set(entry.key, (this.#byKey.get(entry.key) ?? new Set()).add(entry));
    this.#admissions.enter(pair, { isHere: this.#options.hasSet(entry.key) });
    if (this.#admissions.isWaiting(pair)) this.#skip(pair, true);
    return entry;
  }

  #close(entry: Entry): Entry | undefined {
    const pair = nameOf(entry);
    this.#entries.delete(pair);
    const sharers = this.#byKey.get(entry.key);
    sharers?.delete(entry);
    if (sharers?.size === 0) this.#byKey.delete(entry.key);
    const wasSkipped = this.#admissions.isWaiting(pair);
    const next = this.#admissions.leave(pair);
    if (wasSkipped) this.#skip(pair, false);
    if (next === undefined) return undefined;
    this.#skip(next, false);
    return this.#entries.get(next);
  }

  /** A pair is skipped from now on, because there are too many; or it isn't any more. */
  #skip(pair: string, isSkipped: boolean): void {
    const { skipped, limit } = this.#options;
    skipped.replace(`set of ${pair}`, isSkipped ? [tooManySets(limit)] : []);
  }
}

/** Unique: no part contains a slash. */
const nameOf = ({ namespace, app }: Pick<Pair, 'namespace' | 'app'>): string => `${namespace}/${app}`;
