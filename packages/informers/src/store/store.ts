import { HeldObjects, type Holding, isHeld } from './deletion-guard.ts';
import { isOlder } from '../resource-version.ts';
import { sizeOf } from './size.ts';

/** What a store needs to know about each value. */
export type Stored = {
  /** `metadata.uid`: another one under the same name is another object. */
  readonly uid: string;
  /** For objects that we write ourselves, so that an older event doesn't undo the answer to a write. */
  readonly resourceVersion?: string;
};

/** One object was added (`previous` undefined), changed, or deleted (`current` undefined). */
export type Change<V> = { readonly key: string; readonly previous: V | undefined; readonly current: V | undefined };

/**
 * What is known of a source. Unknown is not empty: before the first complete list there is nothing to read, and every
 * reader must handle that.
 */
export type View<V> = { readonly synced: false } | { readonly synced: true; readonly objects: ReadonlyMap<string, V> };

export type StoreOptions<V> = {
  /** Whether two versions of an object are the same to the app: such an update is stored, but isn't reported. */
  readonly equal: (a: V, b: V) => boolean;
  /** Called for each difference, after it is in the store, and in the order of the watch. */
  readonly onChange: (change: Change<V>) => void;
  /** How to hold objects that a list is missing. Default: every list is believed. */
  readonly holding?: Holding<V>;
};

const UNKNOWN = { synced: false } as const;

/**
 * The last known objects of one source, by key. A reflector fills it. Once synced, a store stays synced: for a source
 * that went silent, the last known state is the best available.
 *
 * With `holding`, the deletions of a list that is missing too much are held. Such an object stays, marked as held, until
 * the watch reports it, another object appears with its claims, or a later list is believed.
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

  /** The number of objects, also before the first list is complete. */
  get size(): number {
    return this.#objects.size;
  }

  /** About how much memory they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of held objects. */
  get held(): number {
    return this.#held.size;
  }

  /** All objects, also before the first list is complete: to count, never to decide. */
  all(): readonly V[] {
    return [...this.#objects.values()];
  }

  /** The last known version of an object, also before the first list is complete: for `project`, never to decide. */
  last(key: string): V | undefined {
    return this.#objects.get(key);
  }

  /** Whether it has this version of an object: the watch reports each of our writes once more. */
  has(key: string, { uid, resourceVersion }: Stored): boolean {
    const known = this.#objects.get(key);
    return known?.uid === uid && known.resourceVersion === resourceVersion && !this.#held.has(key);
  }

  /**
   * Adds an object that existed before we started, as a local object shows. It is held from now on, so that the first
   * list can be measured against it.
   */
  seed(key: string, value: V): void {
    this.#put(key, value);
    this.#held.add(key, value);
  }

  /**
   * An object from a list: stored even if it is older than the known one (etcd was restored).
   *
   * @param bytes its size, if the caller has it: a large object takes as long to measure as to decode
   */
  set(key: string, current: V, bytes = entryBytes(key, current)): void {
    if (this.#held.size > 0) {
      this.#held.release(key);
      this.#takeFromRivals(current);
    }
    this.#put(key, current, bytes);
  }

  /**
   * An object from an event or the answer to a write: skipped if the store has this version or a newer one. The watch
   * reports each of our writes once more.
   *
   * @param bytes as of `set`
   */
  update(key: string, current: V, bytes?: number): void {
    const known = this.#objects.get(key);
    if (known?.uid === current.uid && current.resourceVersion !== undefined) {
      if (this.has(key, current) || isOlder(current.resourceVersion, known.resourceVersion ?? '')) return;
    }
    this.set(key, current, bytes);
  }

  /** @param uid delete only this object, and not one that was created again under the same name */
  delete(key: string, uid?: string): void {
    const previous = this.#objects.get(key);
    if (previous === undefined || (uid !== undefined && previous.uid !== uid)) return;
    this.#held.release(key);
    this.#objects.delete(key);
    this.#bytes -= entryBytes(key, previous);
    this.#options.onChange({ key, previous, current: undefined });
  }

  /**
   * A list is complete: objects that it didn't name are deleted, or held. From now on the store is what the source has.
   *
   * @param known how many objects the store had when the list began
   * @param isHoldOver hold nothing, because deletions have been held long enough
   */
  finishList(listed: ReadonlySet<string>, { known, isHoldOver }: { known: number; isHoldOver: boolean }): void {
    const missing = [...this.#objects.keys()].filter((key) => !listed.has(key));
    const { holding } = this.#options;
    const isLoss = holding !== undefined && !isHoldOver && this.#isLoss({ missing: missing.length, known }, holding);
    for (const key of missing) {
      if (!isLoss) this.delete(key);
      else if (!this.#held.has(key)) this.#hold(key, holding);
    }
    // The list named these before anything was held.
    if (isLoss) for (const key of listed) this.#takeFromRivals(this.#objects.get(key)!);
    this.#view = { synced: true, objects: this.#objects };
  }

  /** While objects are held, the list that decides is still to come, and what goes missing meanwhile waits for it too. */
  #isLoss(loss: { missing: number; known: number }, { guard }: Holding<V>): boolean {
    return (this.#view.synced && this.#held.size > 0) || isHeld(loss, guard);
  }

  #hold(key: string, { hold }: Holding<V>): void {
    const value = hold(this.#objects.get(key)!);
    this.#put(key, value);
    this.#held.add(key, value);
  }

  /** Held objects lose the claims of an object that exists. */
  #takeFromRivals(current: V): void {
    for (const { key, claim } of this.#held.rivals(current)) {
      // An object may claim one thing twice, so its rival may already be gone.
      if (!this.#held.has(key)) continue;
      const rest = this.#options.holding?.withoutClaim(this.#objects.get(key)!, claim);
      if (rest === undefined) this.delete(key);
      else {
        this.#put(key, rest);
        this.#held.add(key, rest);
      }
    }
  }

  #put(key: string, current: V, bytes = entryBytes(key, current)): void {
    const previous = this.#objects.get(key);
    const { equal, onChange } = this.#options;
    // Another UID under the same key is a deletion followed by an addition.
    const replaced = previous !== undefined && previous.uid !== current.uid;
    if (replaced) this.delete(key);
    else if (previous !== undefined) this.#bytes -= entryBytes(key, previous);
    this.#objects.set(key, current);
    this.#bytes += bytes;
    if (previous === undefined || replaced) onChange({ key, previous: undefined, current });
    else if (!equal(previous, current)) onChange({ key, previous, current });
  }
}

/** What an object takes in a store, in bytes. Values never change, so an addition and its deletion count the same. */
export const entryBytes = (key: string, value: unknown): number => sizeOf(key) + sizeOf(value);
