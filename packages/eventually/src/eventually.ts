import { AssertionError } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';

/** How long a state may take to come about: much longer than it does, for a machine that does much else. */
export const TIMEOUT_MS = 30_000;

/** What is waited for, for the error; how long to go on asking, by default {@link TIMEOUT_MS}; and how often. */
export type WaitOptions = { readonly what?: string; readonly timeoutMs?: number; readonly intervalMs?: number };

type Probe<T> = () => Promise<T> | T;

/** Whether there is an answer: for {@link eventually}. */
export const isDefined = <T>(answer: T | undefined): answer is T => answer !== undefined;

/**
 * Asks `probe` again and again until its answer is as expected.
 *
 * @param expected the answer itself, or a function that says whether it is the one
 * @returns the answer that the function chose
 * @throws {AssertionError} with the last answer, after `timeoutMs`; and at once what `probe` throws
 */
export async function eventually<T, S extends T>(
  probe: Probe<T>,
  expected: (answer: T) => answer is S,
  options?: WaitOptions,
): Promise<S>;
export async function eventually<T>(
  probe: Probe<T>,
  expected: (answer: T) => boolean,
  options?: WaitOptions,
): Promise<T>;
export async function eventually<T>(probe: Probe<T>, expected: T, options?: WaitOptions): Promise<void>;
export async function eventually(
  probe: Probe<unknown>,
  expected: unknown,
  { what, timeoutMs = TIMEOUT_MS, intervalMs = 25 }: WaitOptions = {},
): Promise<unknown> {
  const isExpected = typeof expected === 'function' ? expected : equals(expected);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const actual = await probe();
    if (isExpected(actual)) return actual;
    if (performance.now() > deadline) {
      throw timeoutError(`waited ${timeoutMs} ms${what === undefined ? '' : ` for ${what}`}`, { actual, expected });
    }
    await delay(intervalMs);
  }
}

const equals = (expected: unknown) => (actual: unknown) => isDeepStrictEqual(actual, expected);

type Difference = { readonly actual: unknown; readonly expected: unknown };

function timeoutError(waited: string, { actual, expected }: Difference): AssertionError {
  if (typeof expected === 'function') {
    return new AssertionError({ message: `${waited}, and the last answer is ${inspect(actual)}` });
  }
  const difference = { actual, expected, operator: 'deepStrictEqual' };
  return new AssertionError({ ...difference, message: `${waited}\n${new AssertionError(difference).message}` });
}
