import { setTimeout as delay } from 'node:timers/promises';

/** How long to go on asking, and how often. */
export type WaitOptions = { readonly timeoutMs?: number; readonly intervalMs?: number };

/**
 * Asks `probe` again and again until it answers with anything but `undefined`.
 *
 * @param what named in the error, as in "no answer to ..."
 * @param probe may throw, which ends the wait: catch what is expected to pass
 * @throws {Error} after `timeoutMs`: by default 30 s, much longer than anything takes, for a machine that does much else
 */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 30_000, intervalMs = 25 }: WaitOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await delay(intervalMs);
  }
}
