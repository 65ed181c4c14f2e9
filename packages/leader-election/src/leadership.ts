import { once } from 'node:events';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { machineClock } from './clock.ts';
import { NotLeadingError, RunningWrites, type Write } from './writes.ts';

/** What happens while a process tries to lead. */
export type LeadershipRun = RunOptions & {
  /**
   * From now on writes are let through, until `signal` is aborted. Stores are warm, so this is where every key is
   * enqueued: what the last leader left undone is found by looking.
   */
  readonly onStartedLeading: (options: RunOptions) => void;
  /** No write begins any more; some may still run. It may lead again later. */
  readonly onStoppedLeading: () => void;
};

/** Whether this process may write, among all those that run for the same purpose. */
export interface Leadership {
  /** Whether a write may begin now. */
  readonly isLeader: boolean;

  /**
   * Lets a write through, at once, if this process leads; all writes of an app go through here, each by itself and
   * last of all, after whatever makes it wait for its turn.
   *
   * A write has the Permit's signal and no other. When the process is asked to stop, writes that run get a moment to
   * end, and only then the next leader is let in; a write that were aborted at once might land after that leader's.
   *
   * @throws {NotLeadingError} before the write has begun, or in its place once it was cut off
   */
  guard<T>(write: Write<T>): Promise<T>;

  /** Leads whenever it can, until `signal` is aborted and the running writes have ended. Called once. */
  run(options: LeadershipRun): Promise<void>;
}

/** What writes get to end when the process is asked to stop: most of them take some milliseconds. */
export const SHUTDOWN_GRACE_MS = 1_000;

/** The only replica there is: it leads from the first moment to the last. */
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
