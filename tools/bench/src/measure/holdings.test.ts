import { expect, it } from 'vitest';
import { Holdings } from './holdings.ts';

const object = (name: string, key: string, ...items: string[]) => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name },
  key,
  items,
});
type Thing = ReturnType<typeof object>;
const read = (thing: object) => ({ key: (thing as Thing).key, items: (thing as Thing).items });

it('merges the items of all objects with one key', () => {
  const holdings = new Holdings();
  const add = (path: string, thing: Thing) => holdings.apply(path, { type: 'ADDED', object: thing }, read);
  add('/a', object('one', 'k', '1', '2'));
  add('/a', object('other', 'j', '9'));
  expect(add('/a', object('two', 'k', '3'))).toEqual({ key: 'k', items: ['1', '2', '3'] });
  expect(add('/b', object('one', 'k', '4'))).toEqual({ key: 'k', items: ['1', '2', '3', '4'] });
  expect(holdings.size).toBe(4);
});

it('forgets old items of an object, and deleted objects', () => {
  const holdings = new Holdings();
  const one = object('one', 'k', '1');
  holdings.apply('/a', { type: 'ADDED', object: one }, read);
  expect(holdings.apply('/a', { type: 'MODIFIED', object: object('one', 'k', '2') }, read).items).toEqual(['2']);
  expect(holdings.apply('/a', { type: 'DELETED', object: one }, read).items).toEqual([]);
  expect(holdings.size).toBe(0);
});
