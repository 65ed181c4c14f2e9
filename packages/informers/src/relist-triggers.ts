import { LONGEST_TIMER_MS } from './sleep.ts';

/** Thousands of writes may fail for one reason, and each new list would end the one that is under way. */
const RECHECK_INTERVAL_MS = 5_000;

/** What makes a reflector list again though nothing failed. Each trigger aborts the attempt that runs. */
export class RelistTriggers {
  readonly #now: () => number;
  #attempt = new AbortController();
  /** While deletions are held: the timer that ends the hold; `over`: the next list is believed. */
  #hold: NodeJS.Timeout | 'over' | undefined;
  #recheckedAt = -Infinity;
  /** A recheck that was requested too soon after the one before. */
  #nextRecheck: NodeJS.Timeout | undefined;

  /** @param now monotonic, in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns a signal that `relist` aborts, until the next attempt begins */
  beginAttempt(): AbortSignal {
    this.#attempt = new AbortController();
    return this.#attempt.signal;
  }

  /** Whether a list was requested since the attempt began. */
  get isRequested(): boolean {
    return this.#attempt.signal.aborted;
  }

  relist(): void {
    this.#attempt.abort();
  }

  /** Lists again now, or as soon as `RECHECK_INTERVAL_MS` have passed since the last time. */
  recheck(): void {
    const tooSoonMs = this.#recheckedAt + RECHECK_INTERVAL_MS - this.#now();
    if (tooSoonMs <= 0) this.#recheckNow();
    // The earlier list may have been as wrong, and the caller won't ask again.
    else this.#nextRecheck ??= setTimeout(() => this.#recheckNow(), tooSoonMs).unref();
  }

  /** Whether the next list is to be believed, because deletions were held long enough. */
  get isHoldOver(): boolean {
    return this.#hold === 'over';
  }

  /** Deletions are held: lists again after `ms`, counted from when the first of them was held. */
  holdFor(ms: number): void {
    this.#hold ??= setTimeout(
      () => {
        this.#hold = 'over';
        this.relist();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
  }

  endHold(): void {
    if (typeof this.#hold === 'object') clearTimeout(this.#hold);
    this.#hold = undefined;
  }

  /** Stops all timers. */
  stop(): void {
    this.endHold();
    clearTimeout(this.#nextRecheck);
  }

  #recheckNow(): void {
    clearTimeout(this.#nextRecheck);
    this.#nextRecheck = undefined;
    this.#recheckedAt = this.#now();
    this.relist();
  }
}
