import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';

/** Calls `act` every `periodMs`, the first time after one, until `signal` is aborted; never if `periodMs` is 0. */
export async function everyPeriod(periodMs: number, act: () => void, { signal }: RunOptions): Promise<void> {
  if (periodMs === 0) return;
  while (!signal.aborted) {
    // Timers of Node.js hold 2^31 - 1 ms; whoever wants a period of more than 24 days gets that.
    await delay(Math.min(periodMs, 2 ** 31 - 1), undefined, { signal }).catch(unlessAborted);
    if (!signal.aborted) act();
  }
}

function unlessAborted(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
