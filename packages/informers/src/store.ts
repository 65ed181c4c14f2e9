import { isOlder } from './resource-version.ts';

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

const UNKNOWN = { synced: false } as const;

/**
 * The last known objects of one source, by key. A reflector fills it; `onChange` hears of each difference, after it
 * is in the store, and in the order of the watch. Once synced a store stays so: what was last known of a source that
 * fell silent is still the best there is.
 */
export class Store<V extends Stored> {
  readonly #objects = new Map<string, V>();
  readonly #equal: (a: V, b: V) => boolean;
  readonly #onChange: (change: Change<V>) => void;
  #view: View<V> = UNKNOWN;

  /**
   * @param equal whether two versions of an object are the same to the app: an update that leaves them equal is
   *   kept, and is no change
   */
  constructor({ equal, onChange }: { equal: (a: V, b: V) => boolean; onChange: (change: Change<V>) => void }) {
    this.#equal = equal;
    this.#onChange = onChange;
  }

  get view(): View<V> {
    return this.#view;
  }

  /** How many objects there are, also before the first list is complete. */
  get size(): number {
    return this.#objects.size;
  }

  /** An object as a list shows it: believed, also when it is older than what was here (an etcd was restored). */
  set(key: string, current: V): void {
    const previous = this.#objects.get(key);
    // Another UID under the same key is a deletion and an addition.
    if (previous !== undefined && previous.uid !== current.uid) this.delete(key);
    this.#objects.set(key, current);
    if (previous === undefined || previous.uid !== current.uid) this.#onChange({ key, previous: undefined, current });
    else if (!this.#equal(previous, current)) this.#onChange({ key, previous, current });
  }

  /** An object as an event or the answer to a write shows it: passed over when a newer version is here already. */
  update(key: string, current: V): void {
    const held = this.#objects.get(key);
    if (held?.uid === current.uid && isOlder(current.resourceVersion ?? '', held.resourceVersion ?? '')) return;
    this.set(key, current);
  }

  /** @param uid delete only this object, and not one that was made anew under the same name */
  delete(key: string, uid?: string): void {
    const previous = this.#objects.get(key);
    if (previous === undefined || (uid !== undefined && previous.uid !== uid)) return;
    this.#objects.delete(key);
    this.#onChange({ key, previous, current: undefined });
  }

  /** A list is complete: what it didn't name is gone, and from now on the store is what the source holds. */
  finishList(listed: ReadonlySet<string>): void {
    for (const key of this.#objects.keys()) if (!listed.has(key)) this.delete(key);
    this.#view = { synced: true, objects: this.#objects };
  }
}
