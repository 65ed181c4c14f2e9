import { describe, expect, it } from 'vitest';
import type { DesiredSlice } from '../objects.ts';
import type { Family } from '../source.ts';
import { type ClusterSlices, withoutStale } from './stale-endpoints.ts';

type SliceParts = {
  readonly name: string;
  readonly ready?: boolean | 'unknown';
  readonly ports?: readonly string[];
  readonly family?: Family;
};

/** A slice with one endpoint. */
function slice({ name, ready = true, ports = ['http'], family = 'IPv4' }: SliceParts): DesiredSlice {
  const known = ready === 'unknown' ? undefined : ready;
  const conditions = { ready: known, serving: known, terminating: false };
  return {
    name,
    labels: {},
    annotations: {},
    family,
    ports: ports.map((port) => ({ name: port, protocol: 'TCP', port: 80, appProtocol: undefined })),
    endpoints: [
      {
        address: '10.4.0.1',
        otherAddresses: undefined,
        conditions,
        hostname: undefined,
        nodeName: undefined,
        zone: undefined,
        zones: undefined,
      },
    ],
  };
}

const cluster = (stale: ClusterSlices['stale'], ...slices: readonly SliceParts[]): ClusterSlices => ({
  cluster: 'c2',
  stale,
  slices: slices.map(slice),
});

describe('withoutStale', () => {
  it.each([
    {
      name: 'keeps endpoints of reached clusters',
      clusters: [cluster('no', { name: 'a' }, { name: 'b', ready: false })],
      want: ['a true true', 'b false false'],
    },
    {
      name: 'keeps a stale cluster that is alone',
      clusters: [cluster('unready', { name: 'a' })],
      want: ['a true true'],
    },
    {
      name: 'makes endpoints not ready',
      clusters: [cluster('no', { name: 'a' }), cluster('unready', { name: 'b' })],
      want: ['a true true', 'b false false'],
    },
    {
      name: 'removes endpoints',
      clusters: [cluster('remove', { name: 'b' }), cluster('no', { name: 'a' })],
      want: ['a true true'],
    },
    {
      name: 'keeps stale endpoints if no other is ready',
      clusters: [cluster('no', { name: 'a', ready: false }), cluster('remove', { name: 'b' })],
      want: ['a false false', 'b true true'],
    },
    {
      name: 'keeps stale endpoints if all others are stale',
      clusters: [cluster('unready', { name: 'a' }), cluster('remove', { name: 'b' })],
      want: ['a true true', 'b true true'],
    },
    {
      name: 'takes an unknown readiness for true',
      clusters: [cluster('no', { name: 'a', ready: 'unknown' }), cluster('remove', { name: 'b' })],
      want: ['a undefined undefined'],
    },
    {
      name: 'keeps endpoints of a family that no other cluster has',
      clusters: [cluster('no', { name: 'a' }), cluster('remove', { name: 'b', family: 'IPv6' })],
      want: ['a true true', 'b true true'],
    },
    {
      name: 'keeps endpoints of a port that no other cluster has',
      clusters: [cluster('no', { name: 'a' }), cluster('remove', { name: 'b', ports: ['http', 'admin'] })],
      want: ['a true true', 'b true true'],
    },
    {
      name: 'needs no ports',
      clusters: [cluster('no', { name: 'a', ports: [] }), cluster('remove', { name: 'b', ports: [] })],
      want: ['a true true'],
    },
    {
      name: 'finds a port of one cluster in several others',
      clusters: [
        cluster('no', { name: 'a', ports: ['x'] }),
        cluster('no', { name: 'b', ports: ['y'] }),
        cluster('remove', { name: 'c', ports: ['x', 'y'] }),
      ],
      want: ['a true true', 'b true true'],
    },
  ])('$name', ({ clusters, want }) => {
    const slices = withoutStale(clusters).slices.map(
      ({ name, endpoints: [endpoint] }) => `${name} ${endpoint!.conditions.ready} ${endpoint!.conditions.serving}`,
    );
    expect(slices).toEqual(want);
  });

  it('keeps the condition terminating', () => {
    const dying = slice({ name: 'b' });
    const endpoints = dying.endpoints.map((endpoint) => ({
      ...endpoint,
      conditions: { ready: undefined, serving: undefined, terminating: true },
    }));
    const {
      slices: [, found],
    } = withoutStale([
      cluster('no', { name: 'a' }),
      { cluster: 'c2', stale: 'unready', slices: [{ ...dying, endpoints }] },
    ]);
    expect(found!.endpoints[0]!.conditions).toEqual({ ready: false, serving: false, terminating: true });
  });

  it.each([
    { stale: 'unready', fate: 'are not ready' },
    { stale: 'remove', fate: 'are removed' },
  ] as const)('says of which cluster endpoints $fate, and of none that stay', ({ stale, fate }) => {
    const gone = cluster(stale, { name: 'b' }, { name: 'c' }, { name: 'd', ports: ['other'] });
    expect(withoutStale([{ ...cluster('no', { name: 'a' }), cluster: 'c3' }, gone]).diagnostics).toEqual([
      {
        cluster: 'c2',
        kind: 'expected',
        reason: 'stale',
        detail: `the endpoints of 2 of its slices ${fate}, as it was not reached for its staleAfter`,
      },
    ]);
    expect(withoutStale([gone]).diagnostics).toEqual([]);
  });
});
