import { expect, it } from 'vitest';
import { Addresses } from './addresses.ts';

const take = (addresses: Addresses, count: number) => Array.from({ length: count }, () => addresses.next());

it('gives no address twice, and all of one length', () => {
  const given = take(new Addresses(), 500_000);
  expect(new Set(given).size).toBe(500_000);
  expect(new Set(given.map(({ length }) => length))).toEqual(new Set([14]));
});

it('continues after addresses that are in use', () => {
  expect(take(new Addresses(156), 1)).toEqual(take(new Addresses(), 157).slice(-1));
});
