/**
 * Which of the names that a remote asks for it gets: the first ones, up to a limit, each for as long as it is asked for.
 * What is there stays, so a name that has an object here already is always let in.
 */
export class Admissions {
  readonly #limit: number;
  readonly #admitted = new Set<string>();
  /** In the order in which they came. */
  readonly #waiting = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many are let in. */
  get size(): number {
    return this.#admitted.size;
  }

  /** Whether any name isn't let in. */
  get isOver(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether a name is asked for and isn't let in. */
  isWaiting(name: string): boolean {
    return this.#waiting.has(name);
  }

  /** A name is asked for, possibly not for the first time. */
  enter(name: string, { isHere }: { readonly isHere: boolean }): void {
    if (this.#admitted.has(name) || this.#waiting.has(name)) return;
    if (isHere || this.#admitted.size < this.#limit) this.#admitted.add(name);
    else this.#waiting.add(name);
  }

  /** A name is no longer asked for. @returns the one that is let in now, if one is */
  leave(name: string): string | undefined {
    if (this.#waiting.delete(name) || !this.#admitted.delete(name) || this.#admitted.size >= this.#limit)
      return undefined;
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    this.#waiting.delete(next);
    this.#admitted.add(next);
    return next;
  }
}
