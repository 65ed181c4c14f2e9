import { once } from 'node:events';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { machineClock } from './clock.ts';
import { NotLeadingError, RunningWrites, type Write } from './writes.ts';

export type LeadershipRun = RunOptions & {
  /**
   * Writes may begin from now on, until `signal` is aborted. Stores are warm, so enqueue every key here: a reconcile
   * finds what the last leader didn't finish.
   */
  readonly onStartedLeading: (options: RunOptions) => void;
  /** No write begins any more; some may still run. It may lead again later. */
  readonly onStoppedLeading: () => void;
};

/** Whether this process may write, among all replicas. */
export interface Leadership {
  /** Whether a write may begin now. */
  readonly isLeader: boolean;

  /**
   * Begins a write at once if this process leads. All writes of an app pass here, each by itself and as the last step,
   * after everything that it waits for.
   *
   * A write has the signal of its Permit and no other. When the process is asked to stop, running writes have a moment
   * to end before the next leader begins. If they were aborted at once, one could arrive after that leader's writes.
   *
   * @throws {NotLeadingError} before the write has begun, or instead of its result if it was aborted
   */
  guard<T>(write: Write<T>): Promise<T>;

  /** Leads whenever possible, until `signal` is aborted and the running writes have ended. Call it once. */
  run(options: LeadershipRun): Promise<void>;
}

/** How long writes may run after the process is asked to stop: most take some milliseconds. */
export const SHUTDOWN_GRACE_MS = 1_000;

/** The only replica: it always leads. */
export class SoleLeader implements Leadership {
  readonly #writes = new RunningWrites();
  #signal: AbortSignal | undefined;

  get isLeader(): boolean {
    return this.#signal?.aborted === false;
  }

  guard<T>(write: Write<T>): Promise<T> {
    return this.#writes.run(write, () => {
      if (!this.isLeader) throw new NotLeadingError();
    });
  }

  async run({ signal, onStartedLeading, onStoppedLeading }: LeadershipRun): Promise<void> {
    if (signal.aborted) return;
    this.#signal = signal;
    onStartedLeading({ signal });
    await once(signal, 'abort');
    onStoppedLeading();
    await this.#writes.drain({ signal, graceMs: SHUTDOWN_GRACE_MS, clock: machineClock });
  }
}
