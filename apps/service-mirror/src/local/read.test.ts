import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { observedSlice } from './read.ts';

const sliceWith = (addresses: readonly string[], zone?: string) =>
  new Codec(endpointSliceKind).objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'a' },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name: 'web-0' },
      ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
    })),
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
});
