import { describe, expect, it } from 'vitest';
import { memoize } from './memoize.ts';

describe('memoize', () => {
  const named = (name: string) => ({ name });
  const [a, b, c] = [named('a'), named('b'), named('c')];

  it('computes again only if an argument is another one', () => {
    const pair = memoize((left: object, right: string) => ({ left, right }));
    const first = pair(a, 'x');
    expect(pair(a, 'x')).toBe(first);
    expect(pair(a, 'y')).toEqual({ left: a, right: 'y' });
    expect(pair(named('a'), 'x')).not.toBe(first);
  });

  it('keeps one result for each first argument', () => {
    const of = memoize((one: object) => ({ one }));
    const [ofA, ofB] = [of(a), of(b)];
    expect([of(a), of(b)]).toEqual([ofA, ofB]);
    expect(of(a)).toBe(ofA);
  });

  it('takes a new list of the same elements for the same list', () => {
    const names = memoize((all: readonly { name: string }[]) => all.map(({ name }) => name));
    const first = names([a, b]);
    expect(names([a, b])).toBe(first);
    expect(names([a, c])).toEqual(['a', 'c']);
    expect(names([a])).toEqual(['a']);
    expect(names([])).toEqual([]);
  });
});
