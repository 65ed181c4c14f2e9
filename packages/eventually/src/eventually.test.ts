import { AssertionError } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { eventually, isDefined } from './eventually.ts';

/** Gives these answers in order, then the last one again and again. */
const answering = <T>(...answers: readonly T[]) => {
  let asked = 0;
  return () => answers[Math.min(asked++, answers.length - 1)] as T;
};

const fast = { timeoutMs: 5, intervalMs: 1 };

describe('eventually', () => {
  it.each([
    { name: 'a value', answers: [1, 2, 3], expected: 3 },
    { name: 'another object of the same fields', answers: [{ a: [] }, { a: ['b'] }], expected: { a: ['b'] } },
    { name: 'undefined', answers: [1, undefined], expected: undefined },
  ])('calls the probe until the answer is $name', async ({ answers, expected }) => {
    const probe = answering<unknown>(...answers);
    await eventually(probe, expected, { intervalMs: 1 });
    expect(probe()).toEqual(expected);
  });

  it('calls the probe until a function accepts the answer', async () => {
    expect(await eventually(answering(1, 2, 3, 4), (answer) => answer > 2, { intervalMs: 1 })).toBe(3);
  });

  it('accepts null and false as answers', async () => {
    expect(await eventually(() => null, isDefined)).toBeNull();
    expect(await eventually(() => Promise.resolve(false), isDefined)).toBe(false);
  });

  it('says how the last answer differs after the timeout', async () => {
    const error = await eventually(answering<object>({ a: 1 }, { a: 2 }), { a: 3 }, fast).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(AssertionError);
    expect(error).toMatchObject({ actual: { a: 2 }, expected: { a: 3 } });
    expect((error as Error).message).toMatch(/^waited 5 ms\nExpected values to be strictly deep-equal:/);
  });

  it('says what it waited for', async () => {
    const waiting = eventually(() => undefined, isDefined, { ...fast, what: 'the answer' });
    await expect(waiting).rejects.toThrow('waited 5 ms for the answer, and the last answer is undefined');
  });

  it('throws what the probe throws, at once', async () => {
    await expect(eventually(() => Promise.reject(new Error('no')), true)).rejects.toThrow('no');
  });
});
