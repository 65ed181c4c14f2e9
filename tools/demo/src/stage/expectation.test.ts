import { describe, expect, it } from 'vitest';
import { fewestReady, isMirrorRight, isRight } from './expectation.ts';
import type { Mirror } from './mirror-watch.ts';

const podWith = (...ips: string[]) => ({
  ips,
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'checkout-v1-1' } },
});
const workload = { cluster: 'c2', namespace: 'shop', app: 'checkout', pods: [podWith('10.2.0.1', 'fd00::1')] };
const labels = {
  'managed-by': 'anybody',
  'semaphore.uw.systems/name': 'checkout',
  'semaphore.uw.systems/namespace': 'shop',
  'semaphore.uw.systems/cluster': 'c2',
};
const set = { name: 'c2-shop-checkout', labels, nets: ['10.2.0.1/32', 'fd00::1/128'] };

it.each([
  { name: 'takes exactly the addresses of the pods', set, want: true },
  { name: 'takes them in any order', set: { ...set, nets: set.nets.toReversed() }, want: true },
  { name: 'refuses a missing address', set: { ...set, nets: ['10.2.0.1/32'] }, want: false },
  { name: 'refuses a foreign address', set: { ...set, nets: ['10.2.0.1/32', '203.0.113.66/32'] }, want: false },
  { name: 'refuses an address twice', set: { ...set, nets: ['10.2.0.1/32', '10.2.0.1/32'] }, want: false },
  {
    name: 'refuses the labels of another workload',
    set: { ...set, labels: { ...labels, 'semaphore.uw.systems/name': 'cart' } },
    want: false,
  },
  { name: 'refuses no set', set: undefined, want: false },
])('$name', ({ set: candidate, want }) => {
  expect(isRight(candidate, workload)).toBe(want);
});

it.each([
  { name: 'wants no set for no pods', set: undefined, want: true },
  { name: 'refuses an empty set for no pods', set: { ...set, nets: ['10.2.0.1/32'] }, want: false },
])('$name', ({ set: candidate, want }) => {
  expect(isRight(candidate, { ...workload, pods: [] })).toBe(want);
});

const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'c2-shop-73736d-checkout' } };

/** A mirror with these addresses ready. */
const mirrorOf = (v4: readonly string[], v6: readonly string[]): Mirror => ({
  service,
  slices: [
    { name: 'a', family: 'IPv4', ready: v4 },
    { name: 'b', family: 'IPv6', ready: v6 },
  ],
});

describe('isMirrorRight', () => {
  const mirror = mirrorOf(['10.2.0.1'], ['fd00::1']);
  const exposed = { isExposed: true, pods: workload.pods };
  it.each([
    { name: 'takes exactly the addresses of the pods', mirror, source: exposed, want: true },
    { name: 'refuses a missing address', mirror: mirrorOf(['10.2.0.1'], []), source: exposed, want: false },
    { name: 'refuses another address', mirror: mirrorOf(['10.2.0.2'], ['fd00::1']), source: exposed, want: false },
    { name: 'refuses one too many', mirror: mirrorOf(['10.2.0.1', '10.2.0.2'], ['fd00::1']), source: exposed, want: false },
    { name: 'refuses slices without a Service', mirror: { ...mirror, service: undefined }, source: exposed, want: false },
    { name: 'refuses nothing for a Service', mirror: undefined, source: exposed, want: false },
    { name: 'wants nothing for no Service', mirror: undefined, source: { ...exposed, isExposed: false }, want: true },
    { name: 'refuses what is left for no Service', mirror, source: { ...exposed, isExposed: false }, want: false },
  ])('$name', ({ mirror: candidate, source, want }) => {
    expect(isMirrorRight(candidate, source)).toBe(want);
  });
});

describe('fewestReady', () => {
  const of = (...values: (Mirror | undefined)[]) => values.map((value) => ({ value }));

  it('counts the family that had fewer, in the moment that had the fewest', () => {
    expect(fewestReady(of(mirrorOf(['1', '2'], ['3']), mirrorOf(['1', '2'], ['3', '4'])))).toBe(1);
  });

  it.each([
    { name: 'a slice without endpoints', versions: of(mirrorOf(['1'], ['2']), mirrorOf(['1'], [])) },
    { name: 'no mirror', versions: of(mirrorOf(['1'], ['2']), undefined) },
  ])('throws over a moment with $name', ({ versions }) => {
    expect(() => fewestReady(versions)).toThrow('a moment without a ready endpoint');
  });
});
