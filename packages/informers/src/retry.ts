import { backoffMs } from './backoff.ts';

const BACKOFF = { baseMs: 500, maxMs: 30_000 };
/** A watch that lived so long was a good one, with or without events. */
const HEALTHY_WATCH_MS = 10_000;

/** Counts failures in a row, and forgives them when a server shows that it is well. Times are monotonic. */
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

  /** A watch brought an event. Those of a list don't count: a server may list for ever and expire each watch after it. */
  heard(): void {
    this.#failures = 0;
  }

  /**
   * An attempt ended, in peace or not.
   *
   * @param brokeOff a watch that was accepted merely ended: the server is there, even if it can't keep one for long. One
   *   that it accepts only to say something bad (410, garbage) is as bad as a refusal.
   * @returns how long to wait before the next one, in ms
   */
  nextDelayMs({ retryAfterMs, brokeOff }: { retryAfterMs?: number | undefined; brokeOff: boolean }): number {
    const acceptedMs = this.#now() - this.#acceptedAt;
    if (acceptedMs > HEALTHY_WATCH_MS) this.#failures = 0;
    else if (acceptedMs >= 0 && brokeOff) this.#failures = Math.min(this.#failures, 1);
    this.#acceptedAt = Infinity;
    this.#failures++;
    return backoffMs(this.#failures, { ...BACKOFF, random: this.#random }, retryAfterMs);
  }
}
