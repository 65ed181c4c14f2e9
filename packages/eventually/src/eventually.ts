import { AssertionError } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';

/**
 * The timeout of what a test waits for, much longer than any state takes to come about. In CI, the machine may be busy with
 * other work; at a desk, somebody waits for the report of a test that fails.
 */
export const TIMEOUT_MS = process.env['CI'] === undefined ? 60_000 : 300_000;

export type WaitOptions = {
  /** What the error says that we waited for. */
  readonly what?: string;
  /** Default: {@link TIMEOUT_MS}. Only for what may take longer, or takes turns with others. */
  readonly timeoutMs?: number;
  /** The pause between two calls of the probe, default 25 ms. */
  readonly intervalMs?: number;
};

type Probe<T> = () => Promise<T> | T;

/** Whether there is an answer; for {@link eventually}. */
export const isDefined = <T>(answer: T | undefined): answer is T => answer !== undefined;

/**
 * Calls `probe` until its answer is as expected.
 *
 * @param expected the answer, or a function that accepts it
 * @returns the answer that the function accepted
 * @throws {AssertionError} with the last answer, after the timeout; what `probe` throws, at once
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
