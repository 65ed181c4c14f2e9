import type { Now } from './workqueue.ts';

export type PaceOptions = {
  /** How many writes of one key may follow each other at once. */
  readonly burst: number;
  /** The time between two writes of one key in the long run. */
  readonly intervalMs: number;
  readonly now: Now;
};

/**
 * Paces the writes of each key: `burst` at once, and one more per `intervalMs`, so that a lone change is written at once and
 * a stream of changes causes few writes. This is a token bucket per key, kept as one number (GCRA).
 */
export class Pace {
  readonly #options: PaceOptions;
  /** When the bucket of a key is full again; a key whose bucket is full isn't here. Ordered by the last write. */
  readonly #fullAt = new Map<string, number>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Keys whose bucket isn't full. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** The key was written now. @returns how long to delay it, in ms */
  wrote(key: string): number {
    const { burst, intervalMs, now } = this.#options;
    const at = now();
    const fullAt = Math.max(this.#fullAt.get(key) ?? at, at) + intervalMs;
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
    this.#forgetFull(at);
    return Math.max(0, fullAt - at - (burst - 1) * intervalMs);
  }

  /** Costs little: it stops at the first bucket that isn't full. */
  #forgetFull(at: number): void {
    for (const [key, fullAt] of this.#fullAt) {
      if (fullAt > at) return;
      this.#fullAt.delete(key);
    }
  }
}
