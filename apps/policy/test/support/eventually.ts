import { deepStrictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '@kube-semaphore/testkit';

/** How long a state may take to come about: much longer than it does, for a machine that does much else. */
const PATIENCE_MS = 15_000;

/** Asks `probe` until it answers what is expected; in the end fails with how its last answer differs. */
export async function eventually<T>(
  probe: () => Promise<T> | T,
  expected: T,
  { timeoutMs = PATIENCE_MS }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  let actual: T | undefined;
  const asExpected = async () => {
    actual = await probe();
    return isDeepStrictEqual(actual, expected) || undefined;
  };
  try {
    await waitFor('the expected answer', asExpected, { timeoutMs });
  } catch (cause) {
    deepStrictEqual(actual, expected);
    throw cause;
  }
}
