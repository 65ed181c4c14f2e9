import { describe, expect, it } from 'vitest';
import { fewestReady, isGlobalRight, isMirrorRight, isRight } from './expectation.ts';
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
    { name: 'a', family: 'IPv4', ready: v4, notReady: [] },
    { name: 'b', family: 'IPv6', ready: v6, notReady: [] },
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

describe('isGlobalRight', () => {
  const memberOf = (cluster: string, ip: string) => ({ cluster, isExposed: true, pods: [podWith(ip)] });
  const both = [memberOf('c2', '10.2.0.1'), memberOf('c1', '10.1.0.1')] as const;
  const one = [both[1], { ...both[0], isExposed: false }];
  const none = both.map((member) => ({ ...member, isExposed: false }));
  /** One of these clusters. */
  const globalOf = (clusters: string, ready: readonly string[], notReady: readonly string[] = []): Mirror => ({
    service: { ...service, metadata: { name: 'gl-default-73736d-shop', annotations: { 'global-svc-clusters': clusters } } },
    slices: [{ name: 'a', family: 'IPv4', ready, notReady }],
  });
  const all = globalOf('c1,c2', ['10.1.0.1', '10.2.0.1']);
  const halved = globalOf('c1,c2', ['10.1.0.1'], ['10.2.0.1']);
  it.each([
    { name: 'takes the pods of all clusters', global: all, members: both, lost: [], want: true },
    { name: 'refuses one without the pods of a cluster', global: globalOf('c1,c2', ['10.1.0.1']), members: both, lost: [], want: false },
    { name: 'refuses one that lacks the name of a cluster', global: globalOf('c1', ['10.1.0.1', '10.2.0.1']), members: both, lost: [], want: false },
    { name: 'refuses slices without a Service', global: { ...all, service: undefined }, members: both, lost: [], want: false },
    { name: 'refuses pods of a lost cluster that are ready', global: all, members: both, lost: ['c2'], want: false },
    { name: 'takes pods of a lost cluster that are not ready', global: halved, members: both, lost: ['c2'], want: true },
    { name: 'refuses pods of a lost cluster that are gone', global: globalOf('c1,c2', ['10.1.0.1']), members: both, lost: ['c2'], want: false },
    { name: 'refuses pods that are not ready in a cluster that is there', global: halved, members: both, lost: [], want: false },
    { name: 'takes one without a cluster that has left', global: globalOf('c1', ['10.1.0.1']), members: one, lost: [], want: true },
    { name: 'refuses what a cluster that has left leaves behind', global: globalOf('c1', ['10.1.0.1'], ['10.2.0.1']), members: one, lost: [], want: false },
    { name: 'wants nothing when all have left', global: undefined, members: none, lost: [], want: true },
    { name: 'refuses what is left when all have left', global: globalOf('c1', []), members: none, lost: [], want: false },
  ])('$name', ({ global, members, lost, want }) => {
    expect(isGlobalRight(global, { members, lost })).toBe(want);
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
    { name: 'no Service', versions: of(mirrorOf(['1'], ['2']), { ...mirrorOf(['1'], ['2']), service: undefined }) },
  ])('throws over a moment with $name', ({ versions }) => {
    expect(() => fewestReady(versions)).toThrow('a moment without a ready endpoint');
  });
});
