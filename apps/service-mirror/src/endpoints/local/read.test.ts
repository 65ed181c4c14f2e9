import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slice } from '../../../test/arbitraries.ts';
import { observedService, observedSlice } from './read.ts';
import { writtenSlice } from './written.ts';

const sliceWith = (addresses: readonly string[], zone?: string) =>
  new Codec(endpointSliceKind).objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'a' },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true },
      ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
    })),
  });

it.each([
  { spec: { clusterIP: '10.96.0.3', clusterIPs: ['10.96.0.3', 'fd00::3'] }, want: '10.96.0.3' },
  { spec: { clusterIP: 'None', clusterIPs: ['None'] }, want: undefined },
  { spec: { type: 'ExternalName', externalName: 'example.com' }, want: undefined },
])('observedService has the first address, if there is one: $want', ({ spec, want }) => {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec };
  expect(observedService(new Codec(serviceKind).objectFromJson(object)).ip).toBe(want);
});

describe('observedSlice', () => {
  const written = observedSlice(sliceWith(['10.4.0.1', '10.4.0.2']))!.endpoints;

  it('shares the endpoints that were written, if it has the same', () => {
    expect(observedSlice(sliceWith(['10.4.0.1', '10.4.0.2']), written)?.endpoints).toBe(written);
  });

  it.each([
    { name: 'an address', slice: sliceWith(['10.4.0.1', '10.4.0.3']) },
    { name: 'the order', slice: sliceWith(['10.4.0.2', '10.4.0.1']) },
    { name: 'the number', slice: sliceWith(['10.4.0.1']) },
    { name: 'a hint', slice: sliceWith(['10.4.0.1', '10.4.0.2'], 'eu-west-1a') },
  ])('has its own endpoints if another program changed $name', ({ slice }) => {
    expect(observedSlice(slice, written)).toEqual(observedSlice(slice));
  });

  it.each([
    {
      name: 'and its Pod, for a headless Service',
      labels: { 'service.kubernetes.io/headless': '' },
      hostname: 'web-0',
    },
    { name: 'for a Service with an address', labels: {}, hostname: undefined },
  ])('says that an older build wrote a targetRef, $name', ({ labels, hostname }) => {
    const read = observedSlice(
      new Codec(endpointSliceKind).objectFromJson({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'a', labels },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.4.0.1'], targetRef: { kind: 'Pod', name: 'web-0' } }],
      }),
    );
    expect(read).toMatchObject({ hasTargets: true, endpoints: [{ hostname }] });
    expect(observedSlice(sliceWith(['10.4.0.1']))).not.toHaveProperty('hasTargets');
  });

  it('is what was written, with all addresses of each endpoint', () => {
    const codec = new Codec(endpointSliceKind);
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u' };
    fc.assert(
      fc.property(slice({ namespace: 'shop', service: 'web' }), ({ name, family, ports, endpoints }) => {
        const to = { name, labels: {}, annotations: {}, family, ports, endpoints };
        const written = {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          ...writtenSlice(to, undefined, { namespace: 'mirrors', owner }),
        };
        const read = observedSlice(codec.objectFromJson(JSON.parse(JSON.stringify(written))));
        expect(read).toMatchObject({ family, ports, endpoints });
      }),
    );
  });
});
