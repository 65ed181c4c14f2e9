import { expect, it } from 'vitest';
import { durations, percentile } from './summary.ts';

it.each([
  { name: 'a hundred values', values: Array.from({ length: 100 }, (_, i) => 100 - i), want: [50, 90, 99, 100] },
  { name: 'three values', values: [3, 1, 2], want: [2, 3, 3, 3] },
  { name: 'one value', values: [7], want: [7, 7, 7, 7] },
])('has the percentiles of $name', ({ values, want }) => {
  expect([50, 90, 99, 100].map((percent) => percentile(values, percent))).toEqual(want);
});

it('has a line for each percentile', () => {
  expect(durations('burst', [3, 1, 2], [50, 100])).toEqual({ 'burst, p50': [2, 'ms'], 'burst, max': [3, 'ms'] });
});
