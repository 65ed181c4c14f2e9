import { backoffMs } from './backoff.ts';

const BACKOFF = { baseMs: 500, maxMs: 30_000 };
/** A watch that lasted this long was healthy, with or without events. */
const HEALTHY_WATCH_MS = 10_000;

/** Counts failures in a row, and forgets them when a server proves healthy. Times are monotonic. */
export class Retry {
  readonly #random: () => number;
  readonly #now: () => number;
  #failures = 0;
  #acceptedAt = Infinity;

  constructor({ random, now = () => performance.now() }: { random: () => number; now?: () => number }) {
    this.#random = random;
    this.#now = now;
  }

  /** Failures in a row before the attempt that runs now. */
  get failures(): number {
    return this.#failures;
  }

  /** A watch was accepted. */
  accepted(): void {
    this.#acceptedAt = this.#now();
  }

  /** A watch brought an event. Events of a list don't count: a server may list forever and expire each watch after it. */
  heard(): void {
    this.#failures = 0;
  }

  /**
   * An attempt ended, normally or not.
   *
   * @param wasCut the connection ended, and the server reported no error. If it had accepted the watch, it is there, even
   *   if it can't keep a watch for long. An error in an accepted watch (410, garbage) is as bad as a refusal.
   * @returns how long to wait before the next attempt, in ms
   */
  nextDelayMs({ retryAfterMs, wasCut }: { retryAfterMs?: number | undefined; wasCut: boolean }): number {
    const acceptedMs = this.#now() - this.#acceptedAt;
    if (acceptedMs > HEALTHY_WATCH_MS) this.#failures = 0;
    else if (acceptedMs >= 0 && wasCut) this.#failures = Math.min(this.#failures, 1);
    this.#acceptedAt = Infinity;
    this.#failures++;
    return backoffMs(this.#failures, { ...BACKOFF, random: this.#random }, retryAfterMs);
  }
}
