import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { effectOf } from './effect.ts';

const codec = new Codec(endpointSliceKind);

/** `r`: a ready endpoint, `s`: one that is a standby, `n`: one that is not ready. */
const slice = (cluster: string, endpoints: string, service = 'web') =>
  codec.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `gl-shop-73736d-${service}-${cluster}`,
      namespace: 'sys-semaphore',
      labels: {
        'mirror-endpointslice-sync-name': cluster,
        'kubernetes.io/service-name': `gl-shop-73736d-${service}`,
      },
      annotations: {
        'mirror-svc-source': `${cluster}/shop/${service}-x`,
        ...(endpoints.includes('s') && { 'mirror-svc-standby': 'true' }),
      },
    },
    addressType: 'IPv4',
    endpoints: endpoints.split('').map((state, i) => ({
      addresses: [`10.4.0.${i}`],
      conditions: { ready: state === 'r', serving: state !== 'n', terminating: state === 's' },
    })),
  });

const none = new Set<string>();

describe('effectOf', () => {
  it.each([
    { name: 'moves what others can take over', slices: [slice('c1', 'r'), slice('c2', 'rn')], want: { moving: true } },
    { name: 'moves it to a standby, too', slices: [slice('c1', 's'), slice('c2', 'r')], want: { moving: true } },
    { name: 'keeps what no other cluster has', slices: [slice('c2', 'r')], want: { staying: true } },
    { name: 'keeps it if others are not ready', slices: [slice('c1', 'n'), slice('c2', 'r')], want: { staying: true } },
    { name: 'is done when it is a standby', slices: [slice('c1', 'r'), slice('c2', 's')], want: {} },
    { name: 'is nothing if it has no usable endpoint', slices: [slice('c1', 'n'), slice('c2', 'n')], want: {} },
    { name: 'is nothing without a part of it', slices: [slice('c1', 'r')], want: {} },
  ])('$name', ({ slices, want }) => {
    const services = { moving: [], headless: [], staying: [] };
    const expected = Object.fromEntries(Object.keys(want).map((key) => [key, ['global shop/web']]));
    expect(effectOf(slices, 'c2', none)).toEqual({ ...services, ...expected });
  });

  it('finds no help in a cluster that is drained, too', () => {
    const slices = [slice('c1', 's'), slice('c2', 'r')];
    expect(effectOf(slices, 'c2', new Set(['c1']))).toEqual({ moving: [], headless: [], staying: ['global shop/web'] });
  });

  it('names ServiceImports by the namespace of their source', () => {
    const imported = codec.objectFromJson({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'x',
        namespace: 'sys-semaphore',
        labels: {
          'multicluster.kubernetes.io/service-name': 'pay',
          'multicluster.kubernetes.io/source-cluster': 'c2',
        },
        annotations: { 'mirror-svc-source': 'c2/shop/pay-x' },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.4.0.1'] }],
    });
    const slices = [slice('c2', 'r', 'db'), imported];
    expect(effectOf(slices, 'c2', none).staying).toEqual(['global shop/db', 'import shop/pay']);
  });
});
