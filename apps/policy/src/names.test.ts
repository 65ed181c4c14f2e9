import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hash10, isDnsSubdomain, isLabelValue } from '@kube-semaphore/naming';
import { setKey, setKeyOfName, setNames, shardName, shardOf } from './names.ts';

/** Pieces that are likely to make one name in two ways, or to look like a suffix of ours. */
const piece = fc.constantFrom('a', 'b', '-', '.', '_', 'A', '0123456789', 'deadbeef00', 's1', 's12', 'c2-ns');
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
const labelValue = text.filter(isLabelValue);
const pair = fc.tuple(
  labelValue.filter((value) => value !== ''),
  labelValue,
  labelValue,
);

type Pair = Parameters<typeof setNames>;

const ownNames = (...of: Pair): readonly string[] => {
  const names = setNames(...of);
  return [names.suffixed, shardName(names, 1), shardName(names, 2_000)];
};

const namesOf = (...of: Pair): readonly string[] => {
  const { plain } = setNames(...of);
  return plain === undefined ? ownNames(...of) : [plain, ...ownNames(...of)];
};

describe('setNames', () => {
  it.each([
    { name: 'has the spelling of the Go programs', app: 'my-app', plain: 'c2-ns-my-app', base: 'c2-ns-my-app' },
    { name: 'keeps dots', app: 'v1.my-app', plain: 'c2-ns-v1.my-app', base: 'c2-ns-v1.my-app' },
    {
      name: 'is legalised if the label has capitals (Go tried to create it for ever)',
      app: 'My_App',
      base: 'c2-ns-my-app',
    },
    { name: 'is legalised if the label has two dots', app: 'a..b', base: 'c2-ns-a-b' },
    { name: 'is legalised if a dot touches a hyphen', app: 'a-.b', base: 'c2-ns-a-b' },
    { name: 'is legalised if the label is empty', app: '', base: 'c2-ns' },
    { name: 'keeps a run of hyphens', app: 'a--b', plain: 'c2-ns-a--b', base: 'c2-ns-a--b' },
  ])('$name', ({ app, plain, base }) => {
    expect(setNames('c2', 'ns', app)).toEqual({ plain, suffixed: `${base}-${hash10('c2', 'ns', app)}` });
  });

  it('returns valid object names only', () => {
    fc.assert(
      fc.property(pair, (of) => {
        expect(namesOf(...of).filter((name) => !isDnsSubdomain(name))).toEqual([]);
      }),
    );
  });

  it('is short enough for the longest parts', () => {
    const longest = 'a'.repeat(63);
    expect(namesOf(longest, longest, longest).filter((name) => !isDnsSubdomain(name))).toEqual([]);
  });

  it('shares no suffixed name and no shard between two pairs', () => {
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        fc.pre(a.join('/') !== b.join('/'));
        const own = ownNames(...a);
        expect(ownNames(...b).filter((name) => own.includes(name))).toEqual([]);
      }),
    );
  });
});

describe('shardOf', () => {
  const names = setNames('c2', 'ns', 'app');

  it.each([
    { name: 'knows the plain name', object: 'c2-ns-app', want: 0 },
    { name: 'knows the suffixed name', object: names.suffixed, want: 0 },
    { name: 'knows a shard', object: `${names.suffixed}-s12`, want: 12 },
    { name: 'refuses shard 0', object: `${names.suffixed}-s0`, want: undefined },
    { name: 'refuses a second spelling of a number', object: `${names.suffixed}-s01`, want: undefined },
    {
      name: 'refuses a number that would lose digits',
      object: `${names.suffixed}-s${'9'.repeat(20)}`,
      want: undefined,
    },
    { name: 'refuses a longer name', object: `${names.suffixed}-s1-s2`, want: undefined },
    { name: "refuses another pair's name", object: 'c2-ns-apple', want: undefined },
  ])('$name', ({ object, want }) => {
    expect(shardOf(names, object)).toBe(want);
  });

  it('knows no plain name if that is not a valid object name', () => {
    expect(shardOf(setNames('c2', 'ns', 'My_App'), 'c2-ns-my-app')).toBe(undefined);
  });
});

describe('setKey', () => {
  it.each<{ name: string; of: Pair; want: string }>([
    { name: 'is the plain name', of: ['c2', 'ns', 'app'], want: 'c2-ns-app' },
    { name: 'is the same for two pairs with one name', of: ['c2', 'ns-a', 'b'], want: setKey('c2', 'ns', 'a-b') },
    { name: 'is the same for a label value and its legalised form', of: ['c2', 'ns', 'My_App'], want: 'c2-ns-my-app' },
    { name: 'drops what looks like a hash', of: ['c2', 'ns', 'app-0123456789'], want: 'c2-ns-app' },
    { name: 'drops what looks like a shard', of: ['c2', 'ns', 'app-0123456789-s7'], want: 'c2-ns-app' },
    { name: 'drops several', of: ['c2', 'ns', 'app-0123456789-s7-deadbeef00'], want: 'c2-ns-app' },
    { name: 'keeps what only begins like a shard', of: ['c2', 'ns', 'app-s7'], want: 'c2-ns-app-s7' },
    { name: 'keeps eleven digits', of: ['c2', 'ns', 'app-01234567890'], want: 'c2-ns-app-01234567890' },
  ])('$name', ({ of, want }) => {
    expect(setKey(...of)).toBe(want);
  });

  it('is the key of every name that the pair can have', () => {
    fc.assert(
      fc.property(pair, (of) => {
        expect(namesOf(...of).filter((name) => setKeyOfName(name) !== setKey(...of))).toEqual([]);
      }),
    );
  });

  it('is the same for all pairs that can have one name', () => {
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        const shared = namesOf(...a).some((name) => namesOf(...b).includes(name));
        expect(shared && setKey(...a) !== setKey(...b)).toBe(false);
      }),
    );
  });
});
