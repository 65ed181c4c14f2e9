import { expect, it } from 'vitest';
import { Latest, record } from './latest.ts';

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

it('records every version from now on, until it is disposed of', () => {
  const latest = new Latest<number>();
  latest.set('a', 0);
  latest.set('a', 1);
  const recording = record(latest, 'a');
  latest.set('a', undefined);
  latest.set('b', 2);
  latest.set('a', 3);
  recording[Symbol.dispose]();
  latest.set('a', 4);
  expect(recording.versions).toEqual([1, undefined, 3].map((value) => ({ value })));
});
