/** How long Services are away that are deleted to be made anew: from when the watch tells of the end to when the next is there. */
export class Gaps {
  readonly #now: () => number;
  /** When each ended, by name; undefined while it has yet to. */
  readonly #ends = new Map<string, number | undefined>();

  /** @param now monotonic, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A Service is about to be deleted and made anew. */
  expect(name: string): void {
    this.#ends.set(name, undefined);
  }

  /** A Service is gone, whoever deleted it. */
  ended(name: string): void {
    if (this.#ends.has(name)) this.#ends.set(name, this.#now());
  }

  /** A Service was created. @returns for how many ms it was away, rounded; undefined if it wasn't to be made anew */
  over(name: string): number | undefined {
    const end = this.#ends.get(name);
    this.#ends.delete(name);
    return end === undefined ? undefined : Math.round(this.#now() - end);
  }
}
