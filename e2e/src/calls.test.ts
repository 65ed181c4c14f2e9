import { describe, expect, it } from 'vitest';
import { type Call, Calls, completeUntil, endsWell } from './calls.ts';

const call = (n: number, more: Partial<Call> = { by: 'web-0' }): Call => ({ n, at: n * 10, ms: 1, port: 20_000 + n, ...more });
const lost = (n: number): Call => call(n, { error: 'timeout' });

describe('endsWell', () => {
  it.each([
    { name: 'takes enough answers', calls: [call(0), call(1)], want: true },
    { name: 'forgets what was before', calls: [lost(0), call(1), call(2)], want: true },
    { name: 'wants enough', calls: [call(0)], want: false },
    { name: 'takes no failure', calls: [call(0), lost(1)], want: false },
    { name: 'waits for one that is under way', calls: [call(0), call(2)], want: false },
  ])('$name', ({ calls, want }) => {
    expect(endsWell(calls, 2)).toBe(want);
  });
});

describe('completeUntil', () => {
  it.each([
    { name: 'knows that all have ended', calls: [call(0), call(1), call(2)], complete: true },
    { name: 'waits for a gap', calls: [call(0), call(2)], complete: false },
    { name: 'waits for the first that comes later', calls: [call(0), call(1)], complete: false },
  ])('$name', ({ calls, complete }) => {
    expect(completeUntil(calls, 20) !== undefined).toBe(complete);
  });
});

it('reads complete lines, in the order in which the calls began', () => {
  const text = [call(1), lost(0)].map((each) => JSON.stringify(each)).join('\n');
  expect(new Calls(() => `noise\n${text}\n{"n":2`).all()).toEqual([lost(0), call(1)]);
});
