import { expect, it } from 'vitest';
import type { Round } from './script.ts';
import { shrink } from './shrink.ts';

/** Rounds of kills, each told by its pause. */
const script = (...rounds: readonly (readonly number[])[]): Round[] =>
  rounds.map((round) => round.map((thenMs) => ({ do: 'kill', replica: 0, thenMs })));

const has =
  (...needed: readonly number[]) =>
  async (rounds: readonly Round[]) => {
    const all = rounds.flat().map(({ thenMs }) => thenMs);
    return needed.every((each) => all.includes(each));
  };

const LONG = script([1, 2, 3, 4, 5, 6, 7], [8, 9, 10], [11, 12, 13, 14]);

it.each([
  { name: 'the two steps that matter, in their rounds', fails: has(2, 13), want: script([2], [13]) },
  { name: 'one step', fails: has(9), want: script([9]) },
  { name: 'all, if all matter', fails: has(...LONG.flat().map(({ thenMs }) => thenMs)), want: LONG },
])('leaves $name', async ({ fails, want }) => {
  expect(await shrink(LONG, fails, 100)).toEqual(want);
});

it('tries no more than it may', async () => {
  let tried = 0;
  const fails = async () => (tried += 1) > 100;
  expect(await shrink(LONG, fails, 3)).toEqual(LONG);
  expect(tried).toBe(3);
});
