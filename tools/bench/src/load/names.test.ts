import { expect, it } from 'vitest';
import { addresses } from './names.ts';

const take = (next: () => string, count: number) => Array.from({ length: count }, next);

it('gives no address twice, and all of one length', () => {
  const given = take(addresses(), 100_000);
  expect(new Set(given).size).toBe(100_000);
  expect(new Set(given.map(({ length }) => length))).toEqual(new Set([14]));
});

it('continues after addresses that are in use', () => {
  expect(take(addresses(156), 1)).toEqual(take(addresses(), 157).slice(-1));
});
