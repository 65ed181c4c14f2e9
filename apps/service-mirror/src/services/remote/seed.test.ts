import { describe, expect, it } from 'vitest';
import { YOUNGEST } from '../../endpoints/desired/source.ts';
import type { ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';
import { seedGlobals } from './seed.ts';

const definition = {
  headless: false,
  families: ['IPv4'],
  ports: [],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
} as const;
const SERVICE = 'gl-shop-73736d-web';

const identity = {
  name: SERVICE,
  uid: 'u',
  resourceVersion: '1',
  createdAt: 0,
  labels: { 'global-svc': 'true' },
  annotations: { 'global-svc-clusters': 'c3,c2' },
};
const service: ObservedService = {
  ...identity,
  definition,
  familyPolicy: 'SingleStack',
  isPlain: true,
  isTerminating: false,
  ownerReferences: [],
  finalizers: [],
};

function slice(name: string, cluster: string, source?: string): ObservedSlice {
  const annotations = source === undefined ? {} : { 'mirror-svc-source': source };
  return {
    name,
    uid: name,
    resourceVersion: '1',
    labels: { 'mirror-endpointslice-sync-name': cluster },
    annotations,
    owners: [],
    family: 'IPv4',
    ports: [],
    endpoints: [],
  };
}

const remembered = (slices: readonly ObservedSlice[], cluster = 'c2') =>
  seedGlobals({ services: [service], slices: () => slices }, cluster);

describe('seedGlobals', () => {
  it.each([
    {
      name: 'reads the sources of our slices',
      slices: [slice(`${SERVICE}-0`, 'c2', 'c2/shop/web-a')],
      want: ['web-a'],
    },
    {
      name: "reads the sources of a Go program's slices from their names",
      slices: [slice('gl-web-b', 'c2')],
      want: ['web-b'],
    },
    {
      name: 'skips slices of other clusters',
      slices: [slice('gl-web-b', 'c3'), slice(`${SERVICE}-0`, 'c3', 'c3/shop/web-a')],
      want: [],
    },
    {
      name: 'skips a slice that names two clusters',
      slices: [slice(`${SERVICE}-0`, 'c2', 'c3/shop/web-a')],
      want: [],
    },
    { name: 'skips a name without a source', slices: [slice('web-c', 'c2')], want: [] },
  ])('$name', ({ slices, want }) => {
    expect(remembered(slices).slices.map(({ namespace, name, service: of }) => ({ namespace, name, of }))).toEqual(
      want.map((name) => ({ namespace: 'shop', name, of: 'web' })),
    );
  });

  it('has the endpoints of a standby as their cluster had them', () => {
    const endpoint = {
      address: '10.4.0.1',
      otherAddresses: undefined,
      conditions: { ready: false, serving: true, terminating: true },
      hostname: undefined,
      nodeName: undefined,
      zone: undefined,
      zones: ['remote'],
    };
    const leaving = { ...slice(`${SERVICE}-0`, 'c2', 'c2/shop/web-a'), endpoints: [endpoint] };
    const standby = { ...leaving, annotations: { ...leaving.annotations, 'mirror-svc-standby': 'true' } };
    expect(remembered([standby, leaving]).slices.map(({ endpoints }) => endpoints[0])).toEqual([
      { ...endpoint, conditions: { ready: true, serving: true, terminating: false }, zones: undefined },
      { ...endpoint, zones: undefined },
    ]);
  });

  it('makes the Service the youngest of its name, in the clusters that it lists', () => {
    expect(remembered([]).services).toEqual([
      {
        uid: '',
        namespace: 'shop',
        name: 'web',
        createdAt: YOUNGEST,
        hasSelector: false,
        definition,
        localFirst: false,
      },
    ]);
    expect(remembered([slice('gl-web-b', 'c4')], 'c4')).toEqual({ services: [], slices: [] });
  });
});
