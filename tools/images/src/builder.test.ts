import { expect, it } from 'vitest';
import { parseSize } from './builder.ts';

it.each([
  ['204 MB', 204e6],
  ['1.2 GB\n', 1.2e9],
  ['879 kB', 879e3],
  ['12 B', 12],
])('reads %j', (words, bytes) => {
  expect(parseSize(words)).toBeCloseTo(bytes);
});

it.each(['', 'MB', '12', '12 parsecs'])('refuses %j', (words) => {
  expect(() => parseSize(words)).toThrow('not a size');
});
