import { describe, expect, it } from 'vitest';
import { exported } from '../../../test/mcs/arbitraries.ts';
import type { Endpoint, SourceSlice } from '../../endpoints/desired/source.ts';
import { importSlices } from './slices.ts';

const endpoint: Endpoint = {
  address: '10.4.0.1',
  otherAddresses: undefined,
  conditions: { ready: false, serving: true, terminating: true },
  hostname: 'web-0',
  nodeName: 'node-1',
  zone: 'zone-a',
  zones: undefined,
};
const slice: SourceSlice = {
  uid: 'u',
  namespace: 'shop',
  name: 'web-x1',
  service: 'web',
  family: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: undefined }],
  endpoints: [endpoint],
};

const importOf = (
  { headless = false, trafficDistribution = undefined as string | undefined } = {},
  only: Endpoint = endpoint,
) =>
  importSlices(
    { cluster: 'c2', slices: [{ ...slice, endpoints: [only] }] },
    {
      name: 'web',
      derived: headless ? undefined : 'derived-x',
      definition: exported('c1', { definition: { headless, trafficDistribution } }).definition,
      portNames: new Map([['http', 'http']]),
    },
  );
const endpointOf = (...args: Parameters<typeof importOf>) => importOf(...args).slices[0]?.endpoints[0];

describe('importSlices', () => {
  it('has the labels by which kube-proxy, CoreDNS and others find it (O3)', () => {
    const [found] = importOf().slices;
    expect(found).toMatchObject({
      name: expect.stringMatching(/^web-[0-9a-f]{20}$/),
      annotations: { 'mirror-svc-source': 'c2/shop/web-x1' },
      family: 'IPv4',
      ports: slice.ports,
    });
    expect(found?.labels).toEqual({
      'multicluster.kubernetes.io/service-name': 'web',
      'multicluster.kubernetes.io/source-cluster': 'c2',
      'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
      'kubernetes.io/service-name': 'derived-x',
    });
  });

  it('of a headless import belongs to no Service, and keeps its name', () => {
    const [headless] = importOf({ headless: true }).slices;
    expect(headless?.labels).not.toHaveProperty(['kubernetes.io/service-name']);
    expect(headless?.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
    expect(headless?.name).toBe(importOf().slices[0]?.name);
  });

  it('has the real ports, and conditions as they are, also of endpoints that are not ready', () => {
    expect(endpointOf()).toMatchObject({ conditions: endpoint.conditions, hostname: 'web-0' });
  });

  it('has the endpoints of the source themselves, as copies need memory', () => {
    expect(endpointOf()).toBe(endpoint);
  });

  it.each([
    { distribution: 'PreferClose', zone: 'zone-a', want: ['zone-a'] },
    { distribution: 'PreferSameZone', zone: 'zone-a', want: ['zone-a'] },
    { distribution: undefined, zone: 'zone-a', want: undefined },
    { distribution: 'SomethingLater', zone: 'zone-a', want: undefined },
    { distribution: 'PreferClose', zone: undefined, want: undefined },
  ])('hints for $distribution, $zone: $want', ({ distribution, zone, want }) => {
    const seeded = { ...endpoint, zone, zones: ['zone-b'] };
    expect(endpointOf({ trafficDistribution: distribution }, seeded)?.zones).toEqual(want);
  });

  it('has no hints for a headless import, which kube-proxy ignores', () => {
    expect(endpointOf({ headless: true, trafficDistribution: 'PreferClose' })?.zones).toBeUndefined();
  });

  it('has a port under the name that the import gives it, and none that the import lacks (O9, O10)', () => {
    const of = (name: string | undefined) =>
      importSlices(
        { cluster: 'c2', slices: [slice] },
        {
          name: 'web',
          derived: 'derived-x',
          definition: exported('c1').definition,
          portNames: new Map([['http', name]]),
        },
      );
    expect(of('web').slices[0]?.ports).toEqual([{ ...slice.ports[0], name: 'web' }]);
    expect(of(undefined)).toMatchObject({ slices: [], diagnostics: [{ reason: 'slice-portless' }] });
  });
});
