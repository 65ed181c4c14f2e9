import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, Claims } from './claims.ts';

const claim = (key: string, createdAt: number, cluster = key.split('/')[0]!): Claim => ({
  key,
  cluster,
  namespace: 'ns',
  name: 'web',
  createdAt,
});

describe('Claims', () => {
  it('give a name to the oldest', () => {
    const claims = new Claims();
    claims.add('c2-a-b', claim('c3/ns/web', 2));
    claims.add('c2-a-b', claim('c2/ns/web', 1));
    expect(claims.keys('c2-a-b')).toEqual(['c2/ns/web', 'c3/ns/web']);
  });

  it('have one key for all sources of a global Service', () => {
    const claims = new Claims();
    claims.add('gl', claim('global/ns/web', 1, 'c2'));
    claims.add('gl', claim('global/ns/web', 2, 'c3'));
    expect(claims.keys('gl')).toEqual(['global/ns/web']);
    expect(claims.remove('gl', claim('global/ns/web', 1, 'c2'))).toEqual(['global/ns/web']);
    expect(claims.keys('gl')).toEqual(['global/ns/web']);
  });

  it('return the other claimants when the holder leaves', () => {
    const claims = new Claims();
    claims.add('n', claim('c2/ns/web', 1));
    claims.add('n', claim('c3/ns/web', 2));
    expect(claims.remove('n', claim('c2/ns/web', 1))).toEqual(['c2/ns/web', 'c3/ns/web']);
    expect(claims.keys('n')).toEqual(['c3/ns/web']);
    expect(claims.keys('other')).toEqual([]);
  });

  it('go with their cluster, and leave the names to others', () => {
    const claims = new Claims();
    claims.add('n', claim('c2/ns/web', 1));
    claims.add('n', claim('c3/ns/web', 2));
    claims.add('gl', claim('global/ns/web', 1, 'c2'));
    expect(claims.forget('c2')).toEqual(['c2/ns/web', 'c3/ns/web', 'global/ns/web']);
    expect([claims.keys('n'), claims.keys('gl')]).toEqual([['c3/ns/web'], []]);
    expect(claims.forget('c2')).toEqual([]);
  });

  it('do not depend on the order of events', () => {
    const sources = fc.uniqueArray(
      fc.record({ cluster: fc.constantFrom('c2', 'c3', 'c4', 'c5'), createdAt: fc.integer({ min: 0, max: 2 }) }),
      {
        selector: ({ cluster }) => cluster,
      },
    );
    const orders = sources.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(orders, ([one, other]) => {
        const [a, b] = [one, other].map((order) => {
          const claims = new Claims();
          for (const { cluster, createdAt } of order) claims.add('n', claim(`${cluster}/ns/web`, createdAt));
          return claims.keys('n');
        });
        expect(a).toEqual(b);
      }),
    );
  });
});
