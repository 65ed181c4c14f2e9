import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routingHints } from './routing-hints.ts';

const remote = ['remote'];

describe('routingHints', () => {
  it.each([
    {
      name: 'has no hints for a Service that does not ask',
      localFirst: false,
      hints: 'labelled',
      zones: ['a'],
      want: undefined,
    },
    {
      name: 'has hints for a Service that asks',
      localFirst: true,
      hints: 'labelled',
      zones: ['a'],
      want: { local: ['a'], remote },
    },
    {
      name: 'has hints for every Service, like Go programs',
      localFirst: false,
      hints: 'always',
      zones: ['a'],
      want: { local: ['a'], remote },
    },
    {
      name: 'sorts zones, each once',
      localFirst: true,
      hints: 'always',
      zones: ['b', 'a', 'b'],
      want: { local: ['a', 'b'], remote },
    },
    {
      name: 'ignores a local zone with the name of the remote one',
      localFirst: true,
      hints: 'always',
      zones: ['remote', 'a', ''],
      want: { local: ['a'], remote },
    },
    {
      name: 'has a zone if none is known',
      localFirst: true,
      hints: 'labelled',
      zones: [],
      want: { local: ['local'], remote },
    },
    {
      name: 'has at most eight zones',
      localFirst: true,
      hints: 'always',
      zones: ['i', 'h', 'g', 'f', 'e', 'd', 'c', 'b', 'a'],
      want: { local: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], remote },
    },
  ] as const)('$name', ({ want, ...routing }) => {
    expect(routingHints(routing)).toEqual(want);
  });

  it('does not depend on order, and never hints remote endpoints to a local zone', () => {
    const zones = fc.array(fc.constantFrom('remote', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'), {
      maxLength: 20,
    });
    const orders = zones.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(orders, ([one, other]) => {
        const found = routingHints({ localFirst: true, hints: 'labelled', zones: one });
        expect(found).toEqual(routingHints({ localFirst: true, hints: 'labelled', zones: other }));
        expect(found!.local).not.toContain('remote');
        expect(found!.local.length).toBeGreaterThan(0);
        expect(found!.local.length).toBeLessThanOrEqual(8);
      }),
    );
  });
});
