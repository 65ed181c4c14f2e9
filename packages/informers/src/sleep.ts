import { setTimeout } from 'node:timers/promises';

/** Timers of Node.js go off at once when they are given more: 2^31 - 1 ms, 24.8 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves after `ms`, or after 24.8 days if that is less, or as soon as `signal` is aborted: whoever slept looks at
 * the signal next anyway.
 */
export async function sleep(ms: number, { signal }: { signal: AbortSignal }): Promise<void> {
  try {
    await setTimeout(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
