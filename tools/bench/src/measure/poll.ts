import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls, with a pause after each answer.
 *
 * @returns when the first positive answer came, by `performance.now()`; the state may be older by one poll and one pause
 * @throws the signal's reason
 */
export async function pollUntil(
  probe: () => Promise<boolean>,
  { intervalMs, signal }: { intervalMs: number; signal: AbortSignal },
): Promise<number> {
  while (!(await probe())) {
    signal.throwIfAborted();
    await delay(intervalMs);
  }
  return performance.now();
}
