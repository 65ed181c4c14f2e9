/**
 * Which names of a remote are admitted: the first ones up to a limit, each for as long as the remote wants it. A name
 * that has an object here is always admitted, as existing objects stay.
 */
export class Admissions {
  readonly #limit: number;
  readonly #admitted = new Set<string>();
  /** In the order in which they came. */
  readonly #waiting = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of admitted names. */
  get size(): number {
    return this.#admitted.size;
  }

  /** Whether any name waits. */
  get isOver(): boolean {
    return this.#waiting.size > 0;
  }

  isWaiting(name: string): boolean {
    return this.#waiting.has(name);
  }

  /** The remote wants a name, possibly not for the first time. */
  enter(name: string, { isHere }: { readonly isHere: boolean }): void {
    if (this.#admitted.has(name) || this.#waiting.has(name)) return;
    if (isHere || this.#admitted.size < this.#limit) this.#admitted.add(name);
    else this.#waiting.add(name);
  }

  /** The remote doesn't want a name any more. @returns the name that is admitted instead, if any */
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
