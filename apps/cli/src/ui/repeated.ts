/** A reading that is repeated as long as someone asks for its result. */
export class Repeated<T> {
  readonly #read: () => Promise<T>;
  readonly #everyMs: number;
  #running: Promise<T> | undefined;
  #latest: { readonly result: Promise<T>; readonly atMs: number } | undefined;

  constructor(read: () => Promise<T>, { everyMs }: { readonly everyMs: number }) {
    this.#read = read;
    this.#everyMs = everyMs;
  }

  /** The newest result, which is waited for only if it is the first. Rejects as the reading did. */
  get(): Promise<T> {
    return this.newest() ?? this.#running!;
  }

  /** The newest result; undefined before the first. Starts a new reading when the last one is old. */
  newest(): Promise<T> | undefined {
    const isOld = this.#latest === undefined || performance.now() - this.#latest.atMs >= this.#everyMs;
    if (this.#running === undefined && isOld) {
      const result = this.#read();
      const settle = (): void => {
        this.#running = undefined;
        this.#latest = { result, atMs: performance.now() };
      };
      this.#running = result;
      result.then(settle, settle);
    }
    return this.#latest?.result;
  }
}
