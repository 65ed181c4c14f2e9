import { expect, it } from 'vitest';
import { Latest } from './latest.ts';

it('remembers the last version of each thing, and forgets what is gone', () => {
  const latest = new Latest<number>();
  latest.set('a', 1);
  latest.set('a', 2);
  latest.set('b', 3);
  latest.set('b', undefined);
  expect([latest.get('a'), latest.get('b')]).toEqual([2, undefined]);
});

it('tells every version of a thing, until nobody listens any more', () => {
  const latest = new Latest<number>();
  const seen: (number | undefined)[] = [];
  latest.set('a', 1);
  const unsubscribe = latest.subscribe('a', (value) => seen.push(value));
  latest.set('a', 2);
  latest.set('b', 3);
  latest.set('a', undefined);
  unsubscribe();
  latest.set('a', 4);
  expect(seen).toEqual([2, undefined]);
});
