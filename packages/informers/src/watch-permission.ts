/**
 * A watch is forbidden after this many refusals (403) in a row. An API server that has just started refuses what its
 * roles allow until it has read them, and may read them between a list and the watch after it, or the reverse.
 */
const REFUSALS = 3;
const RETRY_MS = 2_000;

/** Whether lists work while watches are forbidden. */
export class WatchPermission {
  #refusals = 0;

  /** @returns whether this refusal makes watching forbidden */
  refused(): boolean {
    this.#refusals++;
    return this.#refusals === REFUSALS;
  }

  granted(): void {
    this.#refusals = 0;
  }

  get isRefused(): boolean {
    return this.#refusals > 0;
  }

  get isForbidden(): boolean {
    return this.#refusals >= REFUSALS;
  }

  /** How long to wait before the next attempt, in ms. */
  delayMs(pollIntervalMs: number): number {
    return this.isForbidden ? pollIntervalMs : Math.min(RETRY_MS, pollIntervalMs);
  }
}
