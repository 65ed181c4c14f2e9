import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks again and again, with a pause between an answer and the next question.
 *
 * @returns when the answer came that is yes, as `performance.now()` has it: what was asked for is true up to a question
 *   and a pause longer
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
