import { expect, it } from 'vitest';
import { serviceYaml, sliceLines } from './mirror-manifests.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'c2-shop-73736d-checkout',
    namespace: 'sys-semaphore',
    uid: 'left-out',
    annotations: { 'mirror-svc-source': 'c2/shop/checkout' },
    labels: { 'mirrored-svc': 'true' },
  },
  spec: { clusterIPs: ['10.96.0.1', 'fd00::1'], ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }] },
};

it('shows what matters of a Service', () => {
  expect(serviceYaml(service)).toEqual([
    'kind: Service',
    'metadata:',
    '  name: c2-shop-73736d-checkout',
    '  namespace: sys-semaphore',
    '  annotations:',
    '    mirror-svc-source: c2/shop/checkout',
    '  labels:',
    '    mirrored-svc: "true"',
    'spec:',
    '  clusterIPs:',
    '  - 10.96.0.1',
    '  - fd00::1',
    '  ports:',
    '  - { name: http, port: 80, protocol: TCP }',
  ]);
});

it('shows each slice with its addresses, and which are not ready', () => {
  const slices = [
    { name: 'a', family: 'IPv4', ready: ['10.2.0.1', '10.2.0.2'], notReady: [] },
    { name: 'longer', family: 'IPv6', ready: ['fd00::1'], notReady: ['fd00::2'] },
  ] as const;
  expect(sliceLines({ slices })).toEqual(['a       10.2.0.1, 10.2.0.2', 'longer  fd00::1, fd00::2 (not ready)']);
});

it('shows no slice of nothing', () => {
  expect(sliceLines(undefined)).toEqual([]);
});
