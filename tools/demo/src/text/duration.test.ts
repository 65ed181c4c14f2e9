import { expect, it } from 'vitest';
import { formatDuration } from './duration.ts';

it.each([
  [0, '0.0 ms'],
  [0.42, '0.4 ms'],
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [14.4, '14 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [1_254, '1.25 s'],
  [9_994, '9.99 s'],
  [9_996, '10.0 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [65_400, '1 min 5 s'],
])('writes %d ms as %s', (ms, want) => {
  expect(formatDuration(ms)).toBe(want);
});
