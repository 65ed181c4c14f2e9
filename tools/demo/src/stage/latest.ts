/**
 * Learns of a thing's new version, or that there is none any more.
 *
 * @param atMs when it was seen, by `performance.now()`
 */
export type Listener<T> = (value: T | undefined, atMs: number) => void;

/** What is watched: the version of each thing that was seen last, by name. */
export interface Watched<T> {
  get(name: string): T | undefined;
  /** Calls `listener` for every later version of the thing `name`, until the result is called. */
  subscribe(name: string, listener: Listener<T>): () => void;
}

/** The last version of each thing, and who wants to hear of the next. */
export class Latest<T> implements Watched<T> {
  readonly #values = new Map<string, T>();
  readonly #listeners = new Map<string, Set<Listener<T>>>();

  get(name: string): T | undefined {
    return this.#values.get(name);
  }

  /** A new version was seen just now; undefined: it is gone. */
  set(name: string, value: T | undefined): void {
    if (value === undefined) this.#values.delete(name);
    else this.#values.set(name, value);
    const atMs = performance.now();
    for (const listener of this.#listeners.get(name) ?? []) listener(value, atMs);
  }

  subscribe(name: string, listener: Listener<T>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}

/** The versions of a thing, undefined where there was none; they become more until it is disposed of. */
export type Recording<T> = Disposable & { readonly versions: readonly { readonly value: T | undefined }[] };

/** Keeps every version of the thing `name`, that of now being the first. */
export function record<T>(watched: Watched<T>, name: string): Recording<T> {
  const versions = [{ value: watched.get(name) }];
  const unsubscribe = watched.subscribe(name, (value) => versions.push({ value }));
  return { versions, [Symbol.dispose]: unsubscribe };
}
