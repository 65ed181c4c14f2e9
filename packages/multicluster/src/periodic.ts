import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { LONGEST_TIMER_MS } from '@kube-semaphore/options';

/** How often to list if a role has no `watch`, as that of the Go program. */
export const POLL_INTERVAL_MS = 30_000;

/** Calls `act` every `periodMs`, for the first time after one, until `signal` is aborted; never if `periodMs` is 0. */
export async function everyPeriod(periodMs: number, act: () => void, { signal }: RunOptions): Promise<void> {
  if (periodMs === 0) return;
  while (await passes(periodMs, signal)) act();
}

/**
 * Calls `act` with each key once in every period, `atOnce` at a time and evenly, so that many don't come at the same moment, until
 * `signal` is aborted; never if `periodMs` is 0. A new key waits for the next period.
 */
export async function eachInPeriod<T>(
  periodMs: number,
  keys: () => readonly T[],
  act: (key: T) => void,
  { atOnce, signal }: RunOptions & { readonly atOnce: number },
): Promise<void> {
  if (periodMs === 0) return;
  while (!signal.aborted) {
    const all = keys();
    const groups = Math.max(1, Math.ceil(all.length / atOnce));
    for (let nth = 0; nth < groups; nth++) {
      if (!(await passes(periodMs / groups, signal))) return;
      for (const key of all.slice(nth * atOnce, (nth + 1) * atOnce)) act(key);
    }
  }
}

/** @returns false if the signal was aborted meanwhile */
async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
