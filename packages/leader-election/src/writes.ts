import { setMaxListeners } from 'node:events';
import type { LeaderClock } from './clock.ts';

/** This process doesn't lead, or not any more: the write did not begin, or was aborted. */
export class NotLeadingError extends Error {
  readonly code = 'NOT_LEADING';
  override readonly name = 'NotLeadingError';

  constructor(message = 'this replica does not lead') {
    super(message);
  }
}

/** The permission to write. */
export type Permit = {
  /** Aborted when the write must end. No other signal should end it: see `Leadership.guard`. */
  readonly signal: AbortSignal;
  /**
   * Throws NotLeadingError if the write could not begin now. Call it directly before sending a request if the write
   * waited for anything: after a SIGSTOP, answers come in before the timers that are due.
   */
  readonly check: () => void;
};

/** A write, from its first request to its last answer. It ends soon after its signal is aborted. */
export type Write<T> = (permit: Permit) => Promise<T>;

/** The writes that run now. */
export class RunningWrites {
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #wereCutOff = false;

  /** Begins the write before it returns; rejects with what `check` throws, or with what the write does. */
  async run<T>(write: Write<T>, check: () => void): Promise<T> {
    check();
    const aborter = new AbortController();
    // Each request of the write listens to it.
    setMaxListeners(0, aborter.signal);
    const running = write({ signal: aborter.signal, check });
    this.#running.set(aborter, running);
    try {
      return await running;
    } finally {
      this.#running.delete(aborter);
    }
  }

  /** Aborts all of them. */
  cutOff(): void {
    for (const aborter of this.#running.keys()) {
      aborter.abort(new NotLeadingError('the write did not end while this replica led'));
      this.#wereCutOff = true;
    }
  }

  /**
   * Waits until all have ended, at most for `graceMs` after `signal` is aborted.
   *
   * @returns whether none was ever aborted: one that was may still reach the API server
   */
  async drain({
    signal,
    graceMs,
    clock,
  }: {
    signal: AbortSignal;
    graceMs: number;
    clock: LeaderClock;
  }): Promise<boolean> {
    let cancel = (): void => {};
    const hurry = (): void => {
      cancel = clock.after(graceMs, () => this.cutOff());
    };
    if (signal.aborted) hurry();
    else signal.addEventListener('abort', hurry, { once: true });
    await Promise.allSettled(this.#running.values());
    signal.removeEventListener('abort', hurry);
    cancel();
    return !this.#wereCutOff;
  }
}
