import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { expect, it } from 'vitest';
import { Catalog } from './catalog.ts';
import { objectWith, selector, slicesFor, sourceObjects } from './source-objects.ts';

const source = (endpoints: number) => new Catalog({ services: 1, endpoints }).services[0]!;
const endpointsIn = ({ endpoints }: KubeObject) => endpoints as { addresses: string[] }[];

it.each([
  { endpoints: 0, sizes: [] },
  { endpoints: 3, sizes: [3] },
  { endpoints: 100, sizes: [100] },
  { endpoints: 250, sizes: [100, 100, 50] },
])('makes slices of 100 endpoints at most: of $endpoints', ({ endpoints, sizes }) => {
  const slices = sourceObjects('endpointslices', source(endpoints), 'uid').map(({ object }) => object);
  expect(slices.map((slice) => endpointsIn(slice).length)).toEqual(sizes);
  expect(slicesFor(endpoints)).toBe(sizes.length);
  expect(new Set(slices.map(({ metadata }) => metadata.name)).size).toBe(sizes.length);
});

it.each([0, 99, 100, 249])('finds the slice of endpoint %i', (place) => {
  const service = source(250);
  const slice = sourceObjects('endpointslices', service, 'uid')[objectWith('endpointslices', place)]!;
  const addresses = endpointsIn(slice.object).flatMap((endpoint) => endpoint.addresses);
  expect(addresses).toContain(service.backends[place]!.address);
});

it('makes slices as the endpointslice controller does', () => {
  const service = source(1);
  const [backend] = service.backends;
  const [key, value] = selector.split('=') as [string, string];
  expect(sourceObjects('endpointslices', service, 'the-uid')).toEqual([
    {
      collection: '/apis/discovery.k8s.io/v1/namespaces/team-00/endpointslices',
      object: expect.objectContaining({
        metadata: expect.objectContaining({
          name: 'app-00000-s0',
          labels: expect.objectContaining({
            [key]: value,
            'kubernetes.io/service-name': 'app-00000',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          }),
          ownerReferences: [expect.objectContaining({ kind: 'Service', name: 'app-00000', uid: 'the-uid' })],
        }),
        endpoints: [
          expect.objectContaining({
            nodeName: backend!.nodeName,
            zone: backend!.zone,
            targetRef: expect.objectContaining({
              kind: 'Pod',
              name: backend!.pod,
              uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
            }),
          }),
        ],
      }),
    },
  ]);
});

it('makes one Endpoints object for any number', () => {
  const service = source(250);
  const [located, ...others] = sourceObjects('endpoints', service, 'uid');
  expect(others).toEqual([]);
  expect(located).toMatchObject({
    collection: '/api/v1/namespaces/team-00/endpoints',
    object: {
      metadata: { name: 'app-00000' },
      subsets: [{ addresses: service.backends.map(({ address }) => ({ ip: address })) }],
    },
  });
  expect(objectWith('endpoints', 249)).toBe(0);
});
