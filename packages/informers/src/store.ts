import { HeldObjects, type Holding, isHeld } from './deletion-guard.ts';
import { isOlder } from './resource-version.ts';
import { sizeOf } from './size.ts';

/** What a store needs to know of each of its values. */
export type Stored = {
  /** `metadata.uid`: another one under the same name is another object. */
  readonly uid: string;
  /** For objects that we write ourselves, so that the answer to a write isn't undone by an older event. */
  readonly resourceVersion?: string;
};

/** One object came (`previous` undefined), changed, or went (`current` undefined). */
export type Change<V> = { readonly key: string; readonly previous: V | undefined; readonly current: V | undefined };

/**
 * What is known of a source. Unknown is not empty: before the first complete list there is nothing to read, and
 * whoever asks must say what it does then.
 */
export type View<V> = { readonly synced: false } | { readonly synced: true; readonly objects: ReadonlyMap<string, V> };

export type StoreOptions<V> = {
  /** Whether two versions of an object are the same to the app: an update that leaves them equal is kept, and is no change. */
  readonly equal: (a: V, b: V) => boolean;
  /** Hears of each difference, after it is in the store, and in the order of the watch. */
  readonly onChange: (change: Change<V>) => void;
  /** How to hold objects that a list lacks all of a sudden. Default: every list is believed. */
  readonly holding?: Holding<V>;
};

const UNKNOWN = { synced: false } as const;

/**
 * The last known objects of one source, by key. A reflector fills it. Once synced a store stays so: what was last
 * known of a source that fell silent is still the best there is.
 *
 * With `holding`, a list that would take away too much isn't believed: what it lacks stays, marked as held, until the
 * watch says something about it, another object shows up with what it claims, or a later list is believed.
 */
export class Store<V extends Stored> {
  readonly #options: StoreOptions<V>;
  readonly #objects = new Map<string, V>();
  readonly #held: HeldObjects<V>;
  #view: View<V> = UNKNOWN;
  #bytes = 0;

  constructor(options: StoreOptions<V>) {
    this.#options = options;
    this.#held = new HeldObjects(options.holding?.claims ?? (() => []));
  }

  get view(): View<V> {
    return this.#view;
  }

  /** How many objects there are, also before the first list is complete. */
  get size(): number {
    return this.#objects.size;
  }

  /** About how much memory they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many of them are held. */
  get held(): number {
    return this.#held.size;
  }

  /**
   * Something that must have existed before we started, as what it left on the local side shows. It is held from now
   * on, so that the first list can be measured against it.
   */
  seed(key: string, value: V): void {
    this.#put(key, value);
    this.#held.add(key, value);
  }

  /** An object as a list shows it: believed, also when it is older than what was here (an etcd was restored). */
  set(key: string, current: V): void {
    if (this.#held.size > 0) {
      this.#held.release(key);
      this.#takeFromRivals(current);
    }
    this.#put(key, current);
  }

  /** An object as an event or the answer to a write shows it: passed over when a newer version is here already. */
  update(key: string, current: V): void {
    const known = this.#objects.get(key);
    if (known?.uid === current.uid && isOlder(current.resourceVersion ?? '', known.resourceVersion ?? '')) return;
    this.set(key, current);
  }

  /** @param uid delete only this object, and not one that was made anew under the same name */
  delete(key: string, uid?: string): void {
    const previous = this.#objects.get(key);
    if (previous === undefined || (uid !== undefined && previous.uid !== uid)) return;
    this.#held.release(key);
    this.#objects.delete(key);
    this.#bytes -= entryBytes(key, previous);
    this.#options.onChange({ key, previous, current: undefined });
  }

  /**
   * A list is complete: what it didn't name is gone, or held; from now on the store is what the source holds.
   *
   * @param known how many objects there were when the list began
   * @param believe take the list as it is, for it was doubted before
   */
  finishList(listed: ReadonlySet<string>, { known, believe }: { known: number; believe: boolean }): void {
    const missing = [...this.#objects.keys()].filter((key) => !listed.has(key));
    const { holding } = this.#options;
    const doubted = holding !== undefined && !believe && this.#isDoubted({ missing: missing.length, known }, holding);
    for (const key of missing) {
      if (!doubted) this.delete(key);
      else if (!this.#held.has(key)) this.#hold(key, holding);
    }
    // Those that the list names came before anything was held.
    if (doubted) for (const key of listed) this.#takeFromRivals(this.#objects.get(key)!);
    this.#view = { synced: true, objects: this.#objects };
  }

  /** While some are held, the list that decides is still to come, and what goes missing meanwhile waits for it too. */
  #isDoubted(loss: { missing: number; known: number }, { guard }: Holding<V>): boolean {
    return (this.#view.synced && this.#held.size > 0) || isHeld(loss, guard);
  }

  #hold(key: string, { hold }: Holding<V>): void {
    const value = hold(this.#objects.get(key)!);
    this.#put(key, value);
    this.#held.add(key, value);
  }

  /** What an object that is there claims is no held object's any more. */
  #takeFromRivals(current: V): void {
    for (const { key, claim } of this.#held.rivals(current)) {
      // An object may claim one thing twice, and so take the last of a rival before it comes to the end.
      if (!this.#held.has(key)) continue;
      const rest = this.#options.holding?.withoutClaim(this.#objects.get(key)!, claim);
      if (rest === undefined) this.delete(key);
      else {
        this.#put(key, rest);
        this.#held.add(key, rest);
      }
    }
  }

  #put(key: string, current: V): void {
    const previous = this.#objects.get(key);
    const { equal, onChange } = this.#options;
    // Another UID under the same key is a deletion and an addition.
    const replaced = previous !== undefined && previous.uid !== current.uid;
    if (replaced) this.delete(key);
    else if (previous !== undefined) this.#bytes -= entryBytes(key, previous);
    this.#objects.set(key, current);
    this.#bytes += entryBytes(key, current);
    if (previous === undefined || replaced) onChange({ key, previous: undefined, current });
    else if (!equal(previous, current)) onChange({ key, previous, current });
  }
}

/** What an object takes in a store. Values never change, so what was added is what goes. */
export const entryBytes = (key: string, value: unknown): number => sizeOf(key) + sizeOf(value);
