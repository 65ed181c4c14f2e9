import { describe, expect, it } from 'vitest';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import { leftBehind } from './left-behind.ts';

const service = { kind: 'delete-service', from: { name: 'web' } } as Change;
const slice = (name: string, ...addresses: string[]) =>
  ({ kind: 'delete-slice', from: { name, endpoints: addresses.map((address) => ({ address })) } }) as unknown as Change;
const endpoints = (...addresses: string[]) =>
  ({ kind: 'delete-endpoints', from: { name: 'web', addresses } }) as unknown as Change;
const update = { kind: 'update-service', from: { name: 'web' }, to: { name: 'web' } } as Change;

const [mirror, global] = ['c2/shop/web', 'global/shop/web'];
const [gone, goneEverywhere] = ['c2 has no such Service to mirror', 'no known cluster has such a Service to merge'];
const [sync, slicesSync] = ['set serviceSync (-svc-sync) to true', 'set endpointSliceSync to true'];
const used = 'addresses that other Pods may have now';

describe('what is left behind', () => {
  it.each<{ key: string; changes: readonly Change[]; want: string }>([
    {
      key: mirror,
      changes: [service, slice('a', '10.4.0.1'), slice('b', '10.4.0.2')],
      want: `${gone}, but Service web stays, with 2 ${used}: ${sync}, or delete it`,
    },
    {
      key: mirror,
      changes: [service, slice('a', '10.4.0.1'), endpoints('10.4.0.1')],
      want: `${gone}, but Service web stays, with 1 address that other Pods may have now: ${sync}, or delete it`,
    },
    {
      key: mirror,
      changes: [service],
      want: `${gone}, but Service web stays, without an address: ${sync}, or delete it`,
    },
    {
      key: global,
      changes: [service, slice('a', '10.4.0.1')],
      want: `${goneEverywhere}, but Service web stays, with 1 address that other Pods may have now: ${slicesSync}, or delete it`,
    },
    {
      // Another process serves the rest of it.
      key: global,
      changes: [update, slice('a', '10.4.0.1'), slice('b', '10.4.0.2')],
      want: `${goneEverywhere}, but EndpointSlice a, EndpointSlice b stay, with 2 ${used}: ${slicesSync}, or delete them`,
    },
  ])('is named with the cure: $want', ({ key, changes, want }) => {
    expect(leftBehind(key, changes)).toEqual([
      { cluster: key.split('/')[0], kind: 'problem', reason: 'left-behind', detail: want },
    ]);
  });

  it.each([{ changes: [] }, { changes: [update] }])('is nothing without a deletion: $changes', ({ changes }) => {
    expect(leftBehind(global, changes)).toEqual([]);
  });
});
