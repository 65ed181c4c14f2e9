import { setMaxListeners } from 'node:events';
import type { LeaderClock } from './clock.ts';
import { type LeaderTimes, writesEndMs } from './state.ts';
import { NotLeadingError, RunningWrites, type Write } from './writes.ts';

/**
 * The time from taking the Lease to losing it. All durations count from when the last successful renewal was _sent_: the
 * API server received it later, so the others count from a later moment.
 *
 * ```
 *  renewal sent           renewDeadlineMs        writesEndMs      leaseDurationMs
 *  ├── writes may begin ──┼── they may end ──────┼── no writes ───┼── another may lead
 * ```
 *
 * The clock decides. Timers only trigger the check: after a SIGSTOP they are late.
 */
export class LeaderTerm {
  readonly #times: LeaderTimes;
  readonly #clock: LeaderClock;
  readonly #writes = new RunningWrites();
  readonly #ended = new AbortController();
  #sentAtMs = -Infinity;
  #cancelTimer = (): void => {};

  constructor({ times, clock }: { times: LeaderTimes; clock: LeaderClock }) {
    this.#times = times;
    this.#clock = clock;
    // Everything that the app starts for a term listens to it.
    setMaxListeners(0, this.#ended.signal);
  }

  /** Aborted when no write may begin any more; a term doesn't begin again. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Whether a write may begin now. */
  get isOpen(): boolean {
    return !this.#ended.signal.aborted && this.#ageMs < this.#times.renewDeadlineMs;
  }

  /** A request that was sent then renewed the Lease. The first call begins the term. */
  renewed(sentAtMs: number): void {
    this.#sentAtMs = sentAtMs;
    this.#cancelTimer();
    this.#watch();
  }

  guard<T>(write: Write<T>): Promise<T> {
    return this.#writes.run(write, () => {
      if (!this.isOpen) throw new NotLeadingError();
    });
  }

  /** No write begins any more; running ones may end within the time of the Lease. */
  end(): void {
    this.#ended.abort(new NotLeadingError());
  }

  /** Another replica has the Lease: aborts all writes of this term. */
  cutOff(): void {
    this.end();
    this.#writes.cutOff();
  }

  /**
   * Ends the term and waits for the running writes, at most for `graceMs` after `signal` is aborted.
   *
   * @returns whether no write was aborted
   */
  async drain({ signal, graceMs }: { signal: AbortSignal; graceMs: number }): Promise<boolean> {
    this.end();
    const isClean = await this.#writes.drain({ signal, graceMs, clock: this.#clock });
    this.#cancelTimer();
    return isClean;
  }

  get #ageMs(): number {
    return this.#clock.now() - this.#sentAtMs;
  }

  #watch(): void {
    const ageMs = this.#ageMs;
    if (ageMs >= this.#times.renewDeadlineMs) this.end();
    const endMs = this.#ended.signal.aborted ? writesEndMs(this.#times) : this.#times.renewDeadlineMs;
    if (ageMs >= endMs) this.#writes.cutOff();
    else this.#cancelTimer = this.#clock.after(endMs - ageMs, () => this.#watch());
  }
}
