import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressAt, containsCidr, halvesOf, overlappingBlocks, overlaps } from './blocks.ts';
import { type Cidr, contains, mustParseCidr } from './cidr.ts';
import { CidrIndex } from './cidr-index.ts';

/** Few bits, so that blocks overlap. */
const anyCidr = fc
  .tuple(
    fc.constantFrom('10.0.0.0', '10.0.0.64', '10.128.0.0', '255.255.255.255', '::', 'fd00::', 'fd00::ffff:0', 'fd80::'),
    fc.nat(128),
  )
  .map(([ip, length]) => mustParseCidr(`${ip}/${ip.includes(':') ? length : length % 33}`));

describe('containsCidr', () => {
  it.each([
    { name: 'is true for a block and itself', outer: '10.4.0.0/16', inner: '10.4.0.0/16', want: true },
    { name: 'is true for a part', outer: '10.4.0.0/16', inner: '10.4.1.0/24', want: true },
    { name: 'is false for a wider block', outer: '10.4.1.0/24', inner: '10.4.0.0/16', want: false },
    {
      name: 'is false for a wider block with the same first address',
      outer: '10.4.0.0/24',
      inner: '10.4.0.0/16',
      want: false,
    },
    { name: 'is false for a neighbour', outer: '10.4.0.0/16', inner: '10.5.0.0/24', want: false },
    { name: 'is true for a part in IPv6', outer: 'fd00:4::/48', inner: 'fd00:4:0:1::/64', want: true },
    { name: 'is false for IPv4 in ::/0', outer: '::/0', inner: '10.4.0.0/16', want: false },
    { name: 'is false for IPv6 in 0.0.0.0/0', outer: '0.0.0.0/0', inner: '::a04:0/112', want: false },
  ])('$name', ({ outer, inner, want }) => {
    expect(containsCidr(mustParseCidr(outer), mustParseCidr(inner))).toBe(want);
  });
});

describe('overlappingBlocks', () => {
  const blocks = (...texts: readonly string[]) => texts.map((text, i) => ({ cidr: mustParseCidr(text), i }));
  const textsOf = (found: ReturnType<typeof overlappingBlocks<{ cidr: Cidr; i: number }>>) =>
    found.map((pair) => pair.map(({ cidr, i }) => `${i}: ${cidr.text}`).join(', '));

  it('names each block that is inside another one, and the nearest such', () => {
    const all = blocks('10.4.1.0/24', '10.0.0.0/8', '10.4.0.0/16', '10.5.0.0/16', '10.5.0.0/16', 'fd00::/8', '::/0');
    expect(textsOf(overlappingBlocks(all))).toEqual([
      '1: 10.0.0.0/8, 2: 10.4.0.0/16',
      '0: 10.4.1.0/24, 2: 10.4.0.0/16',
      '1: 10.0.0.0/8, 3: 10.5.0.0/16',
      '3: 10.5.0.0/16, 4: 10.5.0.0/16',
      '5: fd00::/8, 6: ::/0',
    ]);
    const isOdd = (one: { i: number }, other: { i: number }): boolean => (one.i + other.i) % 2 === 1;
    expect(textsOf(overlappingBlocks(all, isOdd))).toEqual([
      '0: 10.4.1.0/24, 1: 10.0.0.0/8',
      '1: 10.0.0.0/8, 2: 10.4.0.0/16',
      '3: 10.5.0.0/16, 4: 10.5.0.0/16',
      '5: fd00::/8, 6: ::/0',
    ]);
  });

  it('finds what a comparison of all pairs finds', () => {
    const owned = fc.array(fc.record({ cidr: anyCidr, owner: fc.nat(2) }), { maxLength: 12 });
    fc.assert(
      fc.property(owned, (all) => {
        const counts = (one: { owner: number }, other: { owner: number }): boolean => one.owner !== other.owner;
        const found = overlappingBlocks(all, counts);
        const isInside = all.filter((inner, i) =>
          all.some((outer, j) => {
            const isFirst = outer.cidr.text !== inner.cidr.text || j < i;
            return i !== j && isFirst && counts(outer, inner) && containsCidr(outer.cidr, inner.cidr);
          }),
        );
        expect(found).toHaveLength(isInside.length);
        for (const [one, other] of found) {
          expect(overlaps(one.cidr, other.cidr) && counts(one, other)).toBe(true);
          expect(all.indexOf(one)).toBeLessThan(all.indexOf(other));
        }
      }),
    );
  });
});

describe('overlaps', () => {
  it('is true in both directions', () => {
    expect(overlaps(mustParseCidr('10.4.1.0/24'), mustParseCidr('10.4.0.0/16'))).toBe(true);
    expect(overlaps(mustParseCidr('10.4.0.0/16'), mustParseCidr('10.4.1.0/24'))).toBe(true);
    expect(overlaps(mustParseCidr('10.4.0.0/24'), mustParseCidr('10.4.1.0/24'))).toBe(false);
  });

  it('is true if one has the first address of the other', () => {
    fc.assert(
      fc.property(anyCidr, anyCidr, (a, b) => {
        expect(overlaps(a, b)).toBe(contains(a, addressAt(b, 0) ?? '') || contains(b, addressAt(a, 0) ?? ''));
      }),
    );
  });
});

describe('addressAt', () => {
  it.each([
    { name: 'begins at 0', block: '10.4.1.64/26', ordinal: 0, want: '10.4.1.64' },
    { name: 'counts', block: '10.4.1.64/26', ordinal: 63, want: '10.4.1.127' },
    { name: 'is undefined after the last address', block: '10.4.1.64/26', ordinal: 64, want: undefined },
    { name: 'carries over', block: '10.4.0.0/8', ordinal: 0x01_02_03, want: '10.1.2.3' },
    { name: 'counts in IPv6', block: 'fd00::/64', ordinal: 0x1_0001, want: 'fd00::1:1' },
    { name: 'carries over in IPv6', block: 'fd00::ffff:0/104', ordinal: 0x1_0000, want: 'fd00::ff01:0' },
    { name: 'is undefined below 0', block: '10.4.1.64/26', ordinal: -1, want: undefined },
    { name: 'is undefined for a fraction', block: '10.4.1.64/26', ordinal: 0.5, want: undefined },
  ])('$name', ({ block, ordinal, want }) => {
    expect(addressAt(mustParseCidr(block), ordinal)).toBe(want);
  });
});

describe('halvesOf', () => {
  const isOneAddress = ({ family, prefixLength }: Cidr): boolean => prefixLength === (family === 4 ? 32 : 128);

  it('finds the two blocks of a block', () => {
    fc.assert(
      fc.property(
        anyCidr.filter((cidr) => !isOneAddress(cidr)),
        (cidr) => {
          const [first, second] = halvesOf(cidr)!;
          expect([first, second]).toEqual([mustParseCidr(first.text), mustParseCidr(second.text)]);
          expect([first.prefixLength, second.prefixLength]).toEqual([cidr.prefixLength + 1, cidr.prefixLength + 1]);
          expect([containsCidr(cidr, first), containsCidr(cidr, second)]).toEqual([true, true]);
          expect(overlaps(first, second)).toBe(false);
        },
      ),
    );
  });

  it.each(['10.4.0.1/32', 'fd00::1/128'])('finds none of one address: %s', (text) => {
    expect(halvesOf(mustParseCidr(text))).toBeUndefined();
  });
});

describe('CidrIndex', () => {
  it('finds the same block as a linear search', () => {
    fc.assert(
      fc.property(fc.array(anyCidr, { maxLength: 12 }), anyCidr, (blocks, asked) => {
        const index = new CidrIndex<string>();
        const added: Cidr[] = [];
        for (const block of blocks) {
          const rival = index.overlapping(block);
          expect(rival !== undefined).toBe(added.some((other) => overlaps(other, block)));
          if (rival !== undefined) continue;
          index.add(block, block.text);
          added.push(block);
        }
        const found = index.overlapping(asked);
        const all = added.filter((other) => overlaps(other, asked)).map(({ text }) => text);
        expect(found === undefined ? all : all.includes(found)).toEqual(found === undefined ? [] : true);
      }),
    );
  });

  it('returns the first of several', () => {
    const index = new CidrIndex<string>();
    for (const text of ['10.4.2.0/24', '10.4.1.0/24']) index.add(mustParseCidr(text), text);
    expect(index.overlapping(mustParseCidr('10.4.0.0/16'))).toBe('10.4.1.0/24');
  });
});
