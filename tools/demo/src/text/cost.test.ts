import { expect, it } from 'vitest';
import { costOf } from './cost.ts';

it.each([
  { name: 'counts one write', versions: ['a'], want: 'in 1 write (the update took 14 ms of it)' },
  { name: 'counts several writes', versions: ['a', 'b'], want: 'in 2 writes (the update took 14 ms of it)' },
])('$name', ({ versions, want }) => {
  expect(costOf({ versions, changeMs: 14 }, 'the update')).toBe(want);
});
