import { expect, it } from 'vitest';
import { sumOf } from './metrics.ts';

it.each([
  { name: 'counts nothing where there is nothing', lines: [], want: 0 },
  { name: 'takes the value and not the labels', lines: ['up{remote="c2 9"} 1'], want: 1 },
  { name: 'adds up', lines: ['restarts{remote="c2",reason="a"} 2', 'restarts{remote="c2",reason="b"} 1'], want: 3 },
])('$name', ({ lines, want }) => {
  expect(sumOf(lines)).toBe(want);
});
