import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** How long a state may take to come about: much longer than it does, for a machine that does much else. */
const PATIENCE_MS = 30_000;

const INTERVAL_MS = 25;

/**
 * Asks `probe` again and again until it answers what is expected.
 *
 * @throws {AssertionError} with how the last answer differs, after `timeoutMs`; and at once what `probe` throws
 */
export async function eventually<T>(
  probe: () => Promise<T> | T,
  expected: T,
  { timeoutMs = PATIENCE_MS }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const actual = await probe();
    if (isDeepStrictEqual(actual, expected)) return;
    if (performance.now() > deadline) deepStrictEqual(actual, expected);
    await delay(INTERVAL_MS);
  }
}
