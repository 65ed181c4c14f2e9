import { expect, it } from 'vitest';
import { countVerbs, forObjects, since, total, writesIn } from './requests.ts';

const log = [
  { user: 'a', verb: 'watch' },
  { user: 'a', verb: 'create' },
  { user: 'b', verb: 'create' },
  { user: 'a', verb: 'create' },
];

it('counts the requests of one user by verb', () => {
  expect(countVerbs(log, 'a')).toEqual({ create: 2, watch: 1 });
  expect(Object.keys(countVerbs(log, 'a'))).toEqual(['create', 'watch']);
});

it('subtracts earlier requests', () => {
  expect(since({ create: 2, watch: 1 }, { create: 5, watch: 1, update: 3 })).toEqual({ create: 3, update: 3 });
});

it('adds up all verbs', () => {
  expect(total({ create: 2, watch: 1 })).toBe(3);
  expect(total({})).toBe(0);
});

it('separates requests for single objects, and writes, from the others', () => {
  const counts = { create: 2, deletecollection: 1, get: 3, list: 4, patch: 1, watch: 5 };
  expect(forObjects(counts)).toBe(7);
  expect(writesIn(counts)).toBe(4);
});
