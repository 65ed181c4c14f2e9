import { setMaxListeners } from 'node:events';
import type { LeaderClock } from './clock.ts';

/** This process doesn't lead, or doesn't any more: the write was not begun, or was cut off. */
export class NotLeadingError extends Error {
  readonly code = 'NOT_LEADING';
  override readonly name = 'NotLeadingError';

  constructor(message = 'this replica does not lead') {
    super(message);
  }
}

/** What a write is given that may begin. */
export type Permit = {
  /** Aborted when the write must have ended. No other signal should end it: see `Leadership.guard`. */
  readonly signal: AbortSignal;
  /**
   * Throws NotLeadingError if the write could no longer begin now. For the moment before a request is sent, if anything
   * was waited for since the write was let through: after a SIGSTOP, answers come in before the timers that are due.
   */
  readonly check: () => void;
};

/** A write, from its first request to the answer of its last. It ends soon after its signal is aborted. */
export type Write<T> = (permit: Permit) => Promise<T>;

/** The writes that are under way. */
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
   * Waits until all have ended. From the moment on at which `signal` is aborted they have `graceMs` for it.
   *
   * @returns whether none was ever cut off: what was may still reach the API server
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
