import { expect, it } from 'vitest';
import { summarize } from './summary.ts';

it.each([
  {
    name: 'a hundred values',
    values: Array.from({ length: 100 }, (_, i) => 100 - i),
    want: { p50: 50, p90: 90, p99: 99, max: 100 },
  },
  { name: 'three values', values: [3, 1, 2], want: { p50: 2, p90: 3, p99: 3, max: 3 } },
  { name: 'one value', values: [7], want: { p50: 7, p90: 7, p99: 7, max: 7 } },
])('summarizes $name', ({ values, want }) => {
  expect(summarize(values)).toEqual(want);
});

it('doesn’t change its input', () => {
  const values = [3, 1, 2];
  summarize(values);
  expect(values).toEqual([3, 1, 2]);
});
