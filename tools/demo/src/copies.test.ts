import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, it } from 'vitest';
import { contentOf, type Copy, type Expected, fewestReady, globalOf, mirrorOf, setOf, sliceLines } from './copies.ts';

/** Whether a cluster has what it should. */
const isRight = (copy: Copy, { content }: Expected): boolean => isDeepStrictEqual(contentOf(copy), content());

const podWith = (...ips: string[]) => ({ name: 'checkout-v1-1', ips });
const workload = {
  id: 'c2/shop/checkout',
  cluster: 'c2',
  setName: 'c2-shop-checkout',
  mirrorName: 'c2-shop-73736d-checkout',
  globalName: 'gl-default-73736d-shop',
  label: 'mirror',
  pods: [podWith('10.2.0.1', 'fd00::1')],
} as const;
const withoutPods = { ...workload, pods: [] };
const withoutService = { ...workload, label: undefined };

describe('setOf', () => {
  const labels = {
    'managed-by': 'anybody',
    'semaphore.uw.systems/name': 'checkout',
    'semaphore.uw.systems/namespace': 'shop',
    'semaphore.uw.systems/cluster': 'c2',
  };
  const nets = ['10.2.0.1/32', 'fd00::1/128'];
  const set = (spec: object, more: Record<string, string> = {}): Copy => {
    const metadata = { name: 'c2-shop-checkout', labels: { ...labels, ...more } };
    return [{ apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet', metadata, spec }];
  };
  it.each([
    { name: 'takes exactly the addresses of the pods', copy: set({ nets }), want: true },
    { name: 'takes them in any order', copy: set({ nets: nets.toReversed() }), want: true },
    { name: 'refuses a missing address', copy: set({ nets: ['10.2.0.1/32'] }), want: false },
    { name: 'refuses another address', copy: set({ nets: ['10.2.0.1/32', '203.0.113.66/32'] }), want: false },
    { name: 'refuses a foreign address', copy: set({ nets: [...nets, '203.0.113.66/32'] }), want: false },
    { name: 'refuses an address twice', copy: set({ nets: ['10.2.0.1/32', '10.2.0.1/32'] }), want: false },
    { name: 'refuses another name', copy: set({ nets }, { 'semaphore.uw.systems/name': 'cart' }), want: false },
    { name: 'refuses another namespace', copy: set({ nets }, { 'semaphore.uw.systems/namespace': 'b' }), want: false },
    { name: 'refuses another cluster', copy: set({ nets }, { 'semaphore.uw.systems/cluster': 'c3' }), want: false },
    { name: 'refuses no set', copy: [], want: false },
    { name: 'wants no set for no pods', copy: [], source: withoutPods, want: true },
    { name: 'refuses an old set for no pods', copy: set({ nets }), source: withoutPods, want: false },
    { name: 'refuses an empty set for no pods', copy: set({}), source: withoutPods, want: false },
  ])('$name', ({ copy, source = workload, want }) => {
    expect(isRight(copy, setOf(source))).toBe(want);
  });
});

const service = (annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a', annotations },
  spec: {},
});
const slice = (name: string, ready: readonly string[], notReady: readonly string[] = []): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name },
  addressType: ready[0]?.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: [
    ...ready.map((ip) => ({ addresses: [ip], conditions: {} })),
    ...notReady.map((ip) => ({ addresses: [ip], conditions: { ready: false } })),
  ],
});

/** A mirror with these addresses ready. */
const mirrorWith = (v4: readonly string[], v6: readonly string[]): Copy => [
  service({ 'mirror-svc-source': 'c2/shop/checkout' }),
  slice('a', v4),
  slice('b', v6),
];

describe('mirrorOf', () => {
  const mirror = mirrorWith(['10.2.0.1'], ['fd00::1']);
  it.each([
    { name: 'takes exactly the addresses of the pods', copy: mirror, want: true },
    { name: 'refuses a missing address', copy: mirrorWith(['10.2.0.1'], []), want: false },
    { name: 'refuses another address', copy: mirrorWith(['10.2.0.2'], ['fd00::1']), want: false },
    { name: 'refuses one too many', copy: mirrorWith(['10.2.0.1', '10.2.0.2'], ['fd00::1']), want: false },
    { name: 'refuses one that is not ready', copy: [...mirror, slice('c', [], ['10.2.0.3'])], want: false },
    { name: 'refuses slices without a Service', copy: mirror.slice(1), want: false },
    { name: 'refuses nothing for a Service', copy: [], want: false },
    { name: 'wants nothing for no Service', copy: [], source: withoutService, want: true },
    { name: 'refuses what is left for no Service', copy: mirror, source: withoutService, want: false },
    { name: 'refuses slices that are left for no Service', copy: mirror.slice(1), source: withoutService, want: false },
  ])('$name', ({ copy, source = workload, want }) => {
    expect(isRight(copy, mirrorOf(source))).toBe(want);
  });
});

describe('globalOf', () => {
  const member = (cluster: string, ip: string) =>
    ({ ...workload, label: 'global', cluster, pods: [podWith(ip)] }) as const;
  const both = [member('c2', '10.2.0.1'), member('c1', '10.1.0.1')] as const;
  const one = [both[1], { ...both[0], label: undefined }] as const;
  const none = [withoutService, withoutService] as const;
  const globalWith = (clusters: string, ready: readonly string[], notReady: readonly string[] = []): Copy => [
    service({ 'mirror-svc-source': 'global/default/shop', 'global-svc-clusters': clusters }),
    slice('a', ready, notReady),
  ];
  const all = globalWith('c1,c2', ['10.1.0.1', '10.2.0.1']);
  const halved = globalWith('c1,c2', ['10.1.0.1'], ['10.2.0.1']);
  const unnamed = globalWith('c1', ['10.1.0.1', '10.2.0.1']);
  const onlyC1 = globalWith('c1', ['10.1.0.1']);
  const withoutC2 = globalWith('c1,c2', ['10.1.0.1']);
  const leftBehind = globalWith('c1', ['10.1.0.1'], ['10.2.0.1']);
  it.each([
    { name: 'takes the pods of all clusters', copy: all, members: both, want: true },
    { name: 'refuses one without the pods of a cluster', copy: withoutC2, members: both, want: false },
    { name: 'refuses one that lacks the name of a cluster', copy: unnamed, members: both, want: false },
    { name: 'refuses slices without a Service', copy: all.slice(1), members: both, want: false },
    { name: 'refuses pods of a lost cluster that are ready', copy: all, members: both, lost: ['c2'], want: false },
    { name: 'takes pods of a lost cluster that are not ready', copy: halved, members: both, lost: ['c2'], want: true },
    { name: 'refuses pods of a lost cluster that are gone', copy: withoutC2, members: both, lost: ['c2'], want: false },
    { name: 'refuses pods that are not ready in a cluster that is there', copy: halved, members: both, want: false },
    { name: 'takes one without a cluster that has left', copy: onlyC1, members: one, want: true },
    { name: 'refuses what a cluster that has left leaves behind', copy: leftBehind, members: one, want: false },
    { name: 'wants nothing when all have left', copy: [], members: none, want: true },
    { name: 'refuses what is left when all have left', copy: globalWith('c1', []), members: none, want: false },
  ])('$name', ({ copy, members, lost = [], want }) => {
    expect(isRight(copy, globalOf(members, lost))).toBe(want);
  });
});

describe('fewestReady', () => {
  const versions = (...copies: Copy[]) => copies.map((copy) => ({ copy }));

  it('counts the family that had fewer, in the moment that had the fewest', () => {
    expect(fewestReady(versions(mirrorWith(['1', '2'], ['3:']), mirrorWith(['1', '2'], ['3:', '4:'])))).toBe(1);
  });

  it.each([
    { name: 'a slice without endpoints', seen: versions(mirrorWith(['1'], ['2:']), mirrorWith(['1'], [])) },
    { name: 'no mirror', seen: versions(mirrorWith(['1'], ['2:']), []) },
    { name: 'no Service', seen: versions(mirrorWith(['1'], ['2:']), mirrorWith(['1'], ['2:']).slice(1)) },
  ])('throws if a moment has $name', ({ seen }) => {
    expect(() => fewestReady(seen)).toThrow('no ready endpoint for a moment');
  });
});

it('shows each slice with its addresses, by name, and which are not ready', () => {
  const copy = [slice('longer', ['fd00::1'], ['fd00::2']), service({}), slice('a', ['10.2.0.1', '10.2.0.2'])];
  expect(sliceLines(copy)).toEqual(['a       10.2.0.1, 10.2.0.2', 'longer  fd00::1, fd00::2 (not ready)']);
  expect(sliceLines([])).toEqual([]);
});
