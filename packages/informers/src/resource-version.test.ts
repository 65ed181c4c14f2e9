import { expect, it } from 'vitest';
import { isOlder } from './resource-version.ts';

it.each([
  { a: '9', b: '10', want: true },
  { a: '10', b: '9', want: false },
  { a: '10', b: '10', want: false },
  { a: '99999999999999999998', b: '99999999999999999999', want: true },
  { a: '1/2', b: '3', want: false },
  { a: '', b: '3', want: false },
  { a: '007', b: '8', want: false },
])('says $want when asked whether $a is older than $b', ({ a, b, want }) => {
  expect(isOlder(a, b)).toBe(want);
});
