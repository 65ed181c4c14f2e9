import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const matches = (selector: string, labels: Record<string, string>) => {
  const parsed = parseLabelSelector(selector);
  return parsed.ok ? parsed.value(labels) : parsed.reason;
};

describe('parseLabelSelector', () => {
  it.each([
    { selector: '', labels: {}, want: true },
    { selector: 'a=b', labels: { a: 'b' }, want: true },
    { selector: 'a==b', labels: { a: 'c' }, want: false },
    { selector: 'a!=b', labels: {}, want: true },
    { selector: 'example.com/a in (x, y)', labels: { 'example.com/a': 'y' }, want: true },
    { selector: 'a notin (x,y)', labels: { a: 'x' }, want: false },
    { selector: 'a notin (x)', labels: {}, want: true },
    { selector: 'a in ()', labels: { a: '' }, want: true },
    { selector: 'a', labels: { a: '' }, want: true },
    { selector: '!a', labels: { a: '' }, want: false },
    { selector: 'a=', labels: { a: '' }, want: true },
    { selector: 'a=1,b in (2,3),!c', labels: { a: '1', b: '3' }, want: true },
    { selector: 'a=1,b in (2,3),!c', labels: { a: '1', b: '3', c: '' }, want: false },
    { selector: 'constructor', labels: {}, want: false },
  ])('$selector of $labels is $want', ({ selector, labels, want }) => {
    expect(matches(selector, labels)).toBe(want);
  });

  it.each(['a in', 'a in x', 'a b', '=b', 'a=b=c', ',', 'a,,b'])('refuses %j', (selector) => {
    expect(matches(selector, {})).toMatch(/^unable to parse requirement/);
  });

  it('selects with != exactly the objects that = does not', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,4}$/);
    fc.assert(
      fc.property(fc.dictionary(word, word), word, word, (labels, key, value) => {
        expect(matches(`${key}=${value}`, labels)).toBe(!matches(`${key}!=${value}`, labels));
        expect(matches(`${key} in (${value})`, labels)).toBe(matches(`${key}=${value}`, labels));
      }),
    );
  });
});
