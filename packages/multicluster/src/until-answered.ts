import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';

export type UntilAnsweredOptions = RunOptions & {
  /** Called after each attempt that failed; an error that it throws ends the wait. */
  readonly onFailure: (error: unknown) => void;
  readonly retryMs?: number;
};

/** Repeats a request until it is answered. @throws the signal's reason when that is aborted */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  { signal, onFailure, retryMs = 1_000 }: UntilAnsweredOptions,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
    }
    await delay(retryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
