import { expect, it } from 'vitest';
import { table } from './table.ts';

const rows = [
  ['one', 'x', '1 ms'],
  ['twenty', 'yy', '200 ms'],
];

it.each([
  { name: 'is empty without rows', rows: [], want: [] },
  { name: 'aligns to the left', rows, want: ['one     x   1 ms', 'twenty  yy  200 ms'] },
  { name: 'takes rows that are short', rows: [['a', '1'], ['long']], want: ['a     1', 'long'] },
])('$name', ({ rows: given, want }) => {
  expect(table(given)).toEqual(want);
});
