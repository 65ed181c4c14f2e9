/** Which clusters have diagnostics of which key: of hundreds, most never have any, and each reconcile asks. */
export class Diagnosed {
  readonly #byKey = new Map<string, Iterable<string>>();

  /** The clusters that have diagnostics of a key now, and those that had some before, each once. */
  by(key: string, now: ReadonlyMap<string, unknown>): Iterable<string> {
    const before = this.#byKey.get(key) ?? [];
    if (now.size === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, [...now.keys()]);
    return new Set([...before, ...now.keys()]);
  }
}
