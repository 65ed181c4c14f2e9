import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hash10 } from '@kube-semaphore/naming';
import { isDnsSubdomain, isLabelValue } from '@kube-semaphore/naming';
import { setKey, setKeyOfName, setNames, shardName, shardOf } from './names.ts';

/** Pieces that are likely to spell one name in two ways, or to look like a suffix of ours. */
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
    { name: 'is spelled as the Go programs spell it', app: 'my-app', plain: 'c2-ns-my-app', base: 'c2-ns-my-app' },
    { name: 'keeps dots', app: 'v1.my-app', plain: 'c2-ns-v1.my-app', base: 'c2-ns-v1.my-app' },
    {
      name: 'is legalised where the label has capitals (Go tried to create it for ever)',
      app: 'My_App',
      base: 'c2-ns-my-app',
    },
    { name: 'is legalised where the label has two dots', app: 'a..b', base: 'c2-ns-a-b' },
    { name: 'is legalised where a dot touches a hyphen', app: 'a-.b', base: 'c2-ns-a-b' },
    { name: 'is legalised where the label is empty', app: '', base: 'c2-ns' },
    { name: 'keeps a run of hyphens', app: 'a--b', plain: 'c2-ns-a--b', base: 'c2-ns-a--b' },
  ])('$name', ({ app, plain, base }) => {
    expect(setNames('c2', 'ns', app)).toEqual({ plain, suffixed: `${base}-${hash10('c2', 'ns', app)}` });
  });

  it('gives object names only', () => {
    fc.assert(
      fc.property(pair, (of) => {
        expect(namesOf(...of).filter((name) => !isDnsSubdomain(name))).toEqual([]);
      }),
    );
  });

  it('has room for the longest of everything', () => {
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
    { name: 'takes no shard 0', object: `${names.suffixed}-s0`, want: undefined },
    { name: 'takes no second spelling of a number', object: `${names.suffixed}-s01`, want: undefined },
    { name: 'takes no number that would lose digits', object: `${names.suffixed}-s${'9'.repeat(20)}`, want: undefined },
    { name: 'takes no longer name', object: `${names.suffixed}-s1-s2`, want: undefined },
    { name: "takes no other pair's name", object: 'c2-ns-apple', want: undefined },
  ])('$name', ({ object, want }) => {
    expect(shardOf(names, object)).toBe(want);
  });

  it('has no plain name to know where that is no object name', () => {
    expect(shardOf(setNames('c2', 'ns', 'My_App'), 'c2-ns-my-app')).toBe(undefined);
  });
});

describe('setKey', () => {
  it.each<{ name: string; of: Pair; want: string }>([
    { name: 'is the plain name', of: ['c2', 'ns', 'app'], want: 'c2-ns-app' },
    { name: 'is one for two pairs that spell one name', of: ['c2', 'ns-a', 'b'], want: setKey('c2', 'ns', 'a-b') },
    { name: 'is one for a label value and its legalised form', of: ['c2', 'ns', 'My_App'], want: 'c2-ns-my-app' },
    { name: 'drops what looks like a hash', of: ['c2', 'ns', 'app-0123456789'], want: 'c2-ns-app' },
    { name: 'drops what looks like a shard', of: ['c2', 'ns', 'app-0123456789-s7'], want: 'c2-ns-app' },
    { name: 'drops several', of: ['c2', 'ns', 'app-0123456789-s7-deadbeef00'], want: 'c2-ns-app' },
    { name: 'keeps what only begins like a shard', of: ['c2', 'ns', 'app-s7'], want: 'c2-ns-app-s7' },
    { name: 'keeps eleven digits', of: ['c2', 'ns', 'app-01234567890'], want: 'c2-ns-app-01234567890' },
  ])('$name', ({ of, want }) => {
    expect(setKey(...of)).toBe(want);
  });

  it('is the key of every name that the pair may have', () => {
    fc.assert(
      fc.property(pair, (of) => {
        expect(namesOf(...of).filter((name) => setKeyOfName(name) !== setKey(...of))).toEqual([]);
      }),
    );
  });

  it('is one for all pairs that may have one name', () => {
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        const shared = namesOf(...a).some((name) => namesOf(...b).includes(name));
        expect(shared && setKey(...a) !== setKey(...b)).toBe(false);
      }),
    );
  });
});
