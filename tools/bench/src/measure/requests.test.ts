import { expect, it } from 'vitest';
import { countVerbs, since, total } from './requests.ts';

it('counts requests by verb', () => {
  const counts = countVerbs([{ verb: 'watch' }, { verb: 'create' }, { verb: 'create' }]);
  expect(counts).toEqual({ create: 2, watch: 1 });
  expect(Object.keys(counts)).toEqual(['create', 'watch']);
});

it('subtracts earlier requests', () => {
  expect(since({ create: 2, watch: 1 }, { create: 5, watch: 1, update: 3 })).toEqual({ create: 3, update: 3 });
});

it('adds up verbs', () => {
  const counts = { create: 2, get: 3, list: 4, watch: 5 };
  expect(total(counts)).toBe(14);
  expect(total(counts, ['list', 'watch'])).toBe(5);
  expect(total({})).toBe(0);
});
