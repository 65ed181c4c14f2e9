import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distribute } from './split-into-shards.ts';

type Shards = { readonly [shard: number]: readonly string[] };

const everyName = () => true;
const shardsIn = (shards: Shards) =>
  new Map(Object.entries(shards).map(([shard, addresses]) => [Number(shard), new Set(addresses)]));
const shardsOf = (shards: ReadonlyMap<number, readonly string[]>): Shards => Object.fromEntries(shards);
const letters = (text: string) => text.split('');

describe('distribute', () => {
  type Row = {
    name: string;
    wanted: string;
    current?: Shards;
    max?: number;
    isFree?: (shard: number) => boolean;
    want: Shards;
  };

  it.each<Row>([
    { name: 'needs one shard if one has room', wanted: 'abcde', want: { 0: letters('abcde') } },
    { name: 'opens a shard when the first is full', wanted: 'abcdef', want: { 0: letters('abcde'), 1: ['f'] } },
    { name: 'needs no shard without addresses', wanted: '', current: { 0: ['a'], 1: ['b'] }, want: {} },
    {
      name: 'keeps an address in its shard',
      wanted: 'abcdefghi',
      current: { 0: letters('efghi'), 1: letters('abcd') },
      want: { 0: letters('efghi'), 1: letters('abcd') },
    },
    {
      name: 'fills the lowest shard with room',
      wanted: 'abcdefxyz',
      current: { 0: letters('abc'), 1: letters('def') },
      want: { 0: letters('abcxy'), 1: letters('defz') },
    },
    {
      name: 'fills a gap in the numbers when all shards are full',
      wanted: 'abcdefghijx',
      current: { 0: letters('abcde'), 2: letters('fghij') },
      want: { 0: letters('abcde'), 1: ['x'], 2: letters('fghij') },
    },
    {
      name: 'empties the last shard if the others would be 80 % full',
      wanted: 'abcd',
      current: { 0: letters('ab'), 1: letters('cd') },
      want: { 0: letters('abcd') },
    },
    {
      name: 'keeps the last shard while the others would be fuller',
      wanted: 'abcde',
      current: { 0: letters('ab'), 1: letters('cde') },
      want: { 0: letters('ab'), 1: letters('cde') },
    },
    {
      name: 'empties several shards at once',
      wanted: 'abc',
      current: { 0: ['a'], 1: ['b'], 2: ['c'] },
      want: { 0: letters('abc') },
    },
    {
      name: 'moves the overflow when the limit was lowered',
      wanted: 'abcdefg',
      current: { 0: letters('abcdefg') },
      want: { 0: letters('abcde'), 1: letters('fg') },
    },
    {
      name: 'merges shards when the limit was raised',
      wanted: 'abcdefg',
      current: { 0: letters('abcd'), 1: letters('efg') },
      max: 100,
      want: { 0: letters('abcdefg') },
    },
    {
      name: 'keeps an address of two shards in the lower one',
      wanted: 'abcdef',
      current: { 0: letters('abc'), 1: letters('cdef') },
      want: { 0: letters('abc'), 1: letters('def') },
    },
    {
      name: 'keeps an address of two shards in the higher one if the lower one is full',
      wanted: 'abcdef',
      current: { 0: letters('abcdef'), 1: ['f'] },
      want: { 0: letters('abcde'), 1: ['f'] },
    },
    {
      name: 'leaves no first shard empty',
      wanted: 'fghijklmn',
      current: { 0: letters('abcde'), 1: letters('fghij'), 2: letters('klmn') },
      want: { 0: letters('klmn'), 1: letters('fghij') },
    },
    {
      name: 'begins at the first free number',
      wanted: 'abcdef',
      isFree: (n) => n > 1 && n !== 3,
      want: { 2: letters('abcde'), 4: ['f'] },
    },
    {
      name: 'moves away from a number that is no longer free',
      wanted: 'abcdefg',
      current: { 0: letters('abc'), 1: letters('defg') },
      isFree: (n) => n !== 0,
      want: { 1: letters('adefg'), 2: letters('bc') },
    },
  ])('$name', ({ wanted, current = {}, max = 5, isFree = everyName, want }) => {
    expect(shardsOf(distribute({ wanted: letters(wanted), current: shardsIn(current), max, isFree }))).toEqual(want);
  });

  const addresses = fc.uniqueArray(fc.constantFrom(...letters('abcdefghijklmnop')), { maxLength: 16 });
  const input = fc
    .record({
      wanted: addresses.map((chosen) => chosen.toSorted()),
      current: fc.dictionary(fc.constantFrom('0', '1', '2', '3', '7'), addresses).map(shardsIn),
      max: fc.integer({ min: 1, max: 6 }),
      blocked: fc.uniqueArray(fc.nat(4)),
    })
    .map(({ blocked, ...rest }) => ({ ...rest, isFree: (shard: number) => !blocked.includes(shard) }));

  it('puts each address into one free shard: none too full, none empty, all in order', () => {
    fc.assert(
      fc.property(input, ({ wanted, current, max, isFree }) => {
        const shards = [...distribute({ wanted, current, max, isFree })];
        expect(shards.flatMap(([, chosen]) => chosen).toSorted()).toEqual(wanted);
        expect(shards.map(([shard]) => shard)).toEqual(
          shards
            .map(([shard]) => shard)
            .toSorted((a, b) => a - b)
            .filter(isFree),
        );
        for (const [, chosen] of shards) {
          expect(chosen).toEqual(chosen.toSorted());
          expect(chosen.length).toBeLessThanOrEqual(max);
          expect(chosen.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('returns its own result again', () => {
    fc.assert(
      fc.property(input, (given) => {
        const once = distribute(given);
        const again = distribute({ ...given, current: shardsIn(shardsOf(once)) });
        expect(shardsOf(again)).toEqual(shardsOf(once));
      }),
    );
  });

  it('always uses the lowest free number', () => {
    fc.assert(
      fc.property(input, ({ wanted, current, max, isFree }) => {
        fc.pre(wanted.length > 0);
        const lowest = [0, 1, 2, 3, 4, 5].find(isFree);
        expect(Math.min(...distribute({ wanted, current, max, isFree }).keys())).toBe(lowest);
      }),
    );
  });
});
