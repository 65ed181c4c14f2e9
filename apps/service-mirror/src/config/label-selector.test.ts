import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesLabels, parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', tier: '3', empty: '', 'example.org/team': 'a' };

/** Whether the labels above meet a selector, or what is wrong with it. */
function ownership(text: string): boolean | string {
  const selector = parseLabelSelector(text);
  return selector.ok ? matchesLabels(selector.value, labels) : selector.reason;
}

describe('a label selector', () => {
  it.each([
    { name: 'selects everything when empty', text: ' ', want: true },
    { name: 'compares', text: 'app=web', want: true },
    { name: 'compares with two equals signs', text: 'app == web', want: true },
    { name: 'is not met by another value', text: 'app=db', want: false },
    { name: 'is not met by a missing label', text: 'color=red', want: false },
    { name: 'compares with nothing', text: 'empty=', want: true },
    { name: 'distinguishes an empty value from a missing label', text: 'color=', want: false },
    { name: 'excludes a value', text: 'app!=web', want: false },
    { name: 'is met by another value than the excluded one', text: 'app != db', want: true },
    { name: 'excludes nothing if the label is missing', text: 'color!=red', want: true },
    { name: 'finds a value in a set', text: 'app in (db, web)', want: true },
    { name: 'needs no space before a set', text: 'app in(web)', want: true },
    { name: 'misses a value in a set', text: 'app in (db)', want: false },
    { name: 'finds a missing label in no set', text: 'color in (red,)', want: false },
    { name: 'finds an empty value in a set', text: 'empty in (a,)', want: true },
    { name: 'excludes a set', text: 'app notin (db,web)', want: false },
    { name: 'does not exclude a missing label by a set', text: 'color notin (red)', want: true },
    { name: 'asks for a label', text: 'app', want: true },
    { name: 'asks for a missing label', text: 'color', want: false },
    { name: 'forbids a label', text: '!app', want: false },
    { name: 'forbids a missing label', text: '! color', want: true },
    { name: 'takes commas for and', text: 'app=web,tier in (1,3),!color,example.org/team', want: true },
    { name: 'is not met if one condition is not', text: 'app=web,tier in (1,2),!color', want: false },
    { name: 'compares numbers', text: 'tier>2,tier<4', want: true },
    { name: 'is not met by the number itself', text: 'tier>3', want: false },
    { name: 'is not met by the number itself from below', text: 'tier<3', want: false },
    { name: 'does not compare a word with a number', text: 'app<4', want: false },
    { name: 'does not compare a missing label with a number', text: 'empty<4', want: false },
    { name: 'accepts in and notin as keys', text: 'notin notin (in),!in', want: true },
    { name: 'does not find labels of Object.prototype', text: 'constructor', want: false },
  ])('$name', ({ text, want }) => {
    expect(ownership(text)).toBe(want);
  });

  it.each([
    {
      name: 'names an invalid condition',
      text: 'app=web,a b',
      want: '"a b" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k',
    },
    {
      name: 'names a condition with two operators',
      text: 'a=b=c',
      want: '"a=b=c" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k',
    },
    {
      name: 'refuses to forbid a value',
      text: '!a=b',
      want: '"!a=b" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k',
    },
    {
      name: 'refuses a missing bracket',
      text: 'a in (b,c',
      want: '"a in (b" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k',
    },
    {
      name: 'refuses an additional bracket',
      text: 'a,b)',
      want: '"a,b)" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k',
    },
    { name: 'names a set without values', text: 'a in ( )', want: '"a in ( )" has no values' },
    {
      name: 'refuses an additional comma',
      text: 'a=b,',
      want: 'a label selector must not have a comma without a condition on each side',
    },
    {
      name: 'refuses a leading comma',
      text: ',a',
      want: 'a label selector must not have a comma without a condition on each side',
    },
    { name: 'names an invalid key', text: 'a/b/c=d', want: '"a/b/c" is not a valid label key' },
    { name: 'names a key with a bad prefix', text: '!A/b', want: '"A/b" is not a valid label key' },
    { name: 'names a key without a name', text: 'a/', want: '"a/" is not a valid label key' },
    {
      name: 'names a key that is too long',
      text: `${'k'.repeat(64)}`,
      want: `"${'k'.repeat(64)}" is not a valid label key`,
    },
    { name: 'names an invalid value', text: 'a=-b', want: '"-b" is not a valid label value' },
    { name: 'names an invalid value in a set', text: 'a in (b,c d)', want: '"c d" is not a valid label value' },
    { name: 'names an invalid number', text: 'a>b', want: '"b" is not a valid number for label "a"' },
    {
      name: 'cuts a long excerpt',
      text: 'a!!'.repeat(99),
      want: `"${'a!!'.repeat(27).slice(0, 80)}…" is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k`,
    },
  ])('$name', ({ text, want }) => {
    expect(ownership(text)).toBe(want);
  });

  const key = fc.constantFrom('app', 'tier', 'color', 'example.org/team');
  const value = fc.constantFrom('web', '3', 'a', '');

  it('means the same in all spellings, with any spaces', () => {
    fc.assert(
      fc.property(key, value, fc.constantFrom('', ' ', '\t '), (k, v, space) => {
        const equal = ownership(`${k}=${v}`);
        const same = [
          `${space}${k}${space}=${space}${v}`,
          `${k}${space}==${v}${space}`,
          `${k} in${space}(${space}${v},${space}${v})`,
        ];
        const opposite = [`${k}${space}!=${space}${v}`, `${k}${space} notin${space}(${v}${space},${v})`];
        expect(same.map(ownership)).toEqual([equal, equal, equal]);
        expect(opposite.map(ownership)).toEqual([equal === false, equal === false]);
        expect(ownership(`!${k}`)).toBe(ownership(k) === false);
      }),
    );
  });

  it('is met if all its conditions are met', () => {
    const condition = fc.tuple(key, fc.constantFrom('=', '!='), value).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1 }), (conditions) => {
        expect(ownership(conditions.join(','))).toBe(conditions.every((each) => ownership(each)));
      }),
    );
  });

  it('returns a value or a sentence for any text', () => {
    const pieces = fc.array(fc.constantFrom('a', 'in', 'notin', '(', ')', ',', '=', '!', '>', ' ', '1', '/'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, (all) => {
        expect(['boolean', 'string']).toContain(typeof ownership(all.join('')));
      }),
    );
  });
});
