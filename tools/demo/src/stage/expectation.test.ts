import { expect, it } from 'vitest';
import { isRight } from './expectation.ts';

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
