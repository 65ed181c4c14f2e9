import { expect, it } from 'vitest';
import { table } from './table.ts';

it.each([
  { name: 'is empty without rows', rows: [], want: [] },
  {
    name: 'aligns words to the left and the last column to the right',
    rows: [['one', 'x', '1 ms'], ['twenty', 'yy', '200 ms']],
    want: ['one     x     1 ms', 'twenty  yy  200 ms'],
  },
  { name: 'takes rows that are short', rows: [['a', '1'], ['long']], want: ['a     1', 'long'] },
])('$name', ({ rows, want }) => {
  expect(table(rows)).toEqual(want);
});
