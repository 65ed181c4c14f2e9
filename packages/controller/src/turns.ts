import type { Now } from './workqueue.ts';

/** How long work may hold up the event loop: watches, and requests to our health server, wait meanwhile. */
const LONGEST_MS = 2;

/** Work that waits for nothing is done in turns, between which sockets and timers get theirs. */
export class Turns {
  readonly #now: Now;
  /** Undefined: no work was done in this turn of the loop. */
  #current: { readonly beganAt: number; readonly over: Promise<void> } | undefined;

  constructor(now: Now) {
    this.#now = now;
  }

  /** Begins the work while there is time in this turn of the loop, else in a later one, when all before it has begun. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    while (this.#current !== undefined && this.#now() - this.#current.beganAt >= LONGEST_MS) await this.#current.over;
    this.#current ??= this.#begin();
    return work();
  }

  #begin() {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    setImmediate(() => {
      this.#current = undefined;
      resolve();
    });
    return { beganAt: this.#now(), over };
  }
}
