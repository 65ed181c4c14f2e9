import { setTimeout } from 'node:timers/promises';

/** With more, a timer of Node.js fires at once: 2^31 - 1 ms, 24.8 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves after `ms`, or after 24.8 days if that is less, or as soon as `signal` is aborted: the caller checks the
 * signal next anyway.
 */
export async function sleep(ms: number, { signal }: { signal: AbortSignal }): Promise<void> {
  try {
    await setTimeout(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
