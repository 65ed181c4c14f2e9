import { expect, it } from 'vitest';
import { isHeldWithoutPods } from './held.ts';

it.each([
  { name: 'holds where there are sets and no Pod was ever seen', podsSeen: false, ownSets: 1, want: true },
  { name: 'goes on where there is nothing to lose', podsSeen: false, ownSets: 0, want: false },
  { name: 'believes that the last Pod has gone', podsSeen: true, ownSets: 1, want: false },
])('$name', ({ podsSeen, ownSets, want }) => {
  expect(isHeldWithoutPods({ podsSeen, ownSets })).toBe(want);
});
