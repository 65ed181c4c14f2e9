import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { LONGEST_TIMER_MS } from '@kube-semaphore/options';

/** How often to list if a role has no `watch`, as that of the Go program. */
export const POLL_INTERVAL_MS = 30_000;

/** Calls `act` every `periodMs`, for the first time after one, until `signal` is aborted; never if `periodMs` is 0. */
export async function everyPeriod(periodMs: number, act: () => void, { signal }: RunOptions): Promise<void> {
  if (periodMs === 0) return;
  for (;;) {
    await delay(Math.min(periodMs, LONGEST_TIMER_MS), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    act();
  }
}
