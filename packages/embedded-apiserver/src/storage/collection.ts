import { EventEmitter } from 'node:events';
import { expired } from '../http/status.ts';
import { objectKey, type StoredObject } from './stored-object.ts';

/** One change of one object. `object` is the new state; for a deletion, the last state with the deletion's revision. */
export type Change = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
  /** The state before the change. */
  readonly previous?: StoredObject;
};

/** The minimum number of changes kept for watches that start at an older resourceVersion. */
const HISTORY = 5000;

/** The number of lists kept for continue tokens. */
const SNAPSHOTS = 64;

/** The objects of one resource, and their recent changes. */
export class Collection {
  readonly #objects = new Map<string, StoredObject>();
  readonly #history: Change[] = [];
  /** The number of forgotten changes, which is the position of the first one kept. */
  #forgotten = 0;
  readonly #snapshots = new Map<number, readonly StoredObject[]>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #sorted: readonly StoredObject[] | undefined;
  #compacted: number;

  /** @param compacted changes up to this revision are unknown */
  constructor(compacted: number) {
    this.#compacted = compacted;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(objectKey(namespace, name));
  }

  /** Ordered by key. */
  list(): readonly StoredObject[] {
    this.#sorted ??= [...this.#objects.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return this.#sorted;
  }

  put(object: StoredObject): Change {
    const previous = this.#objects.get(object.key);
    this.#objects.set(object.key, object);
    return this.#record(previous ? { type: 'MODIFIED', object, previous } : { type: 'ADDED', object });
  }

  /** @param last the object's last state, under the revision of its deletion */
  remove(last: StoredObject): Change {
    const previous = this.#objects.get(last.key);
    this.#objects.delete(last.key);
    return this.#record({ type: 'DELETED', object: last, ...(previous && { previous }) });
  }

  /** The position in the history where a watch begins that knows everything up to `revision`. @throws {ApiError} 410 */
  positionAfter(revision: number): number {
    if (revision < this.#compacted) throw this.#tooOld(revision);
    let index = this.#history.length;
    while (index > 0 && this.#history[index - 1]!.object.revision > revision) index--;
    return this.#forgotten + index;
  }

  /** @throws {ApiError} 410 if some of them are forgotten */
  changesFrom(position: number): readonly Change[] {
    if (position < this.#forgotten) throw this.#tooOld(position);
    return this.#history.slice(position - this.#forgotten);
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  /** Keeps the present list as that of `revision`, so that its next pages can be served after changes. */
  keepSnapshot(revision: number): void {
    this.#snapshots.set(revision, this.list());
    const [oldest] = this.#snapshots.keys();
    if (this.#snapshots.size > SNAPSHOTS) this.#snapshots.delete(oldest!);
  }

  /** The list that was kept for `revision`; undefined if it is forgotten. */
  snapshot(revision: number): readonly StoredObject[] | undefined {
    return this.#snapshots.get(revision);
  }

  /** Forgets all changes up to `revision`, and all lists. */
  compact(revision: number): void {
    this.#forget(this.#history.length, revision);
    this.#snapshots.clear();
  }

  #record(change: Change): Change {
    this.#sorted = undefined;
    this.#history.push(change);
    if (this.#history.length > 2 * HISTORY) this.#forget(HISTORY, this.#history[HISTORY - 1]!.object.revision);
    this.#changes.emit('change');
    return change;
  }

  #forget(count: number, upTo: number): void {
    this.#history.splice(0, count);
    this.#forgotten += count;
    this.#compacted = upTo;
  }

  #tooOld(revision: number) {
    return expired(`too old resource version: ${revision} (${this.#compacted})`);
  }
}
