import { expect, it } from 'vitest';
import { Holdings } from './holdings.ts';

it('merges the items of all objects with one key', () => {
  const holdings = new Holdings();
  holdings.apply('/a/one', { key: 'k', items: ['1', '2'] }, false);
  holdings.apply('/a/other', { key: 'j', items: ['9'] }, false);
  expect(holdings.apply('/b/one', { key: 'k', items: ['3'] }, false)).toEqual({ key: 'k', items: ['1', '2', '3'] });
  expect(holdings.size).toBe(3);
});

it('forgets old items of an object, and deleted objects', () => {
  const holdings = new Holdings();
  holdings.apply('/a/one', { key: 'k', items: ['1'] }, false);
  expect(holdings.apply('/a/one', { key: 'k', items: ['2'] }, false).items).toEqual(['2']);
  expect(holdings.apply('/a/one', { key: 'k', items: ['2'] }, true).items).toEqual([]);
  expect(holdings.size).toBe(0);
});
