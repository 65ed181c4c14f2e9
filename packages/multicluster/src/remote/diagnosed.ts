/** Which clusters have diagnostics of which key: of hundreds, most never have any, and each reconcile asks. */
export class Diagnosed {
  readonly #byKey = new Map<string, Iterable<string>>();

  /** What is to be replaced, by cluster: the diagnostics of a key now, and none where there were some before. */
  replacing<D>(key: string, now: ReadonlyMap<string, readonly D[]>): ReadonlyMap<string, readonly D[]> {
    const before = this.#byKey.get(key) ?? [];
    if (now.size === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, [...now.keys()]);
    return new Map([...Array.from(before, (cluster): [string, readonly D[]] => [cluster, []]), ...now]);
  }
}
