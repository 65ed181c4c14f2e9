import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { NO_SETTINGS } from '../subject.ts';
import { EXPORTS, observedImports, wantedImports } from './imports.ts';
import { meshOf } from './orders.ts';

const [SERVICES, SLICES] = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'];

const place = { name: 'out', namespace: 'shop' };

/** What a cluster has of `shop/out`: its export, its Service and one slice. */
function clusterOf(
  created: string,
  {
    ports = [{ name: 'http', protocol: 'TCP', port: 80 }],
    ...spec
  }: { ports?: readonly object[]; [field: string]: unknown } = {},
): Readonly<Record<string, readonly KubeObject[]>> {
  const exported = {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { ...place, uid: 'u', resourceVersion: '1', creationTimestamp: created },
  };
  const source = service({ ...place, spec: { ports, internalTrafficPolicy: 'Cluster', ...spec } });
  const slice = endpointSlice({ name: 'out-a', namespace: 'shop', service: 'out', endpoints: ['10.4.0.1'], ports });
  return { [EXPORTS]: [exported], [SERVICES]: [source], [SLICES]: [slice] };
}

const NONE = { [EXPORTS]: [], [SERVICES]: [], [SLICES]: [] };
const [FIRST, SECOND] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];

const wanted = (
  c1: Readonly<Record<string, readonly KubeObject[]>>,
  c2: Readonly<Record<string, readonly KubeObject[]>>,
) =>
  wantedImports({ c1, c2 }, ['c1', 'c2'], {
    namespaces: ['shop'],
    endpointsOf: () => [],
    textsOf: () => ['one'],
    mesh: meshOf({ c1 }, ['c2'], { said: NO_SETTINGS, namespace: 'mirrors' }),
  });

it('are an import with the Service behind it and its slices', () => {
  expect(wanted(NONE, clusterOf(FIRST))).toEqual({
    'import shop/out': {
      type: 'ClusterSetIP',
      ports: ['http TCP 80'],
      affinity: 'None',
      traffic: 'Cluster',
      clusters: ['c2'],
      address: 'that of its Service',
      order: '',
    },
    'derived shop/out': { ports: ['http TCP 80'], affinity: 'None', headless: false },
    'import shop/out of c2/shop/out-a': { headless: false, ports: ['http'], standby: false, endpoints: ['one'] },
  });
});

it('are nothing without a Service, which the export says', () => {
  expect(wanted({ ...clusterOf(FIRST), [SERVICES]: [] }, NONE)).toEqual({
    'export shop/out': { Valid: 'False NoService', Ready: 'False Pending', Conflict: 'False NoConflicts' },
  });
});

it('are as the oldest export says, and each says in what they conflict', () => {
  const view = wanted(clusterOf(SECOND, { clusterIP: 'None', sessionAffinity: 'ClientIP' }), clusterOf(FIRST));
  expect(view).toMatchObject({
    'import shop/out': { type: 'ClusterSetIP', affinity: 'None', clusters: ['c1', 'c2'] },
    'export shop/out': {
      Valid: 'True Valid',
      Conflict: 'True TypeConflict,SessionAffinityConflict,SessionAffinityConfigConflict',
    },
  });
});

it('have the ports of all clusters, by their numbers, and slices without those that are taken', () => {
  const ports = [
    { name: 'web', protocol: 'TCP', port: 80 },
    { name: 'http', protocol: 'TCP', port: 81 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ];
  expect(wanted(clusterOf(SECOND, { ports }), clusterOf(FIRST))).toMatchObject({
    'import shop/out': { ports: ['http TCP 80', 'dns UDP 53'] },
    'import shop/out of c1/shop/out-a': { ports: ['dns', 'http'] },
    'export shop/out': { Conflict: 'True PortConflict' },
  });
});

it('are seen with the address of their Service, or with another one', () => {
  const object = (more: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name: 'out', namespace: 'shop', uid: 'u', resourceVersion: '1' },
    ...more,
  });
  const derived: KubeObject = {
    ...service({ ...place, labels: { 'multicluster.kubernetes.io/service-name': 'out' } }),
    metadata: {
      name: 'derived',
      uid: 'u',
      resourceVersion: '1',
      labels: { 'multicluster.kubernetes.io/service-name': 'out' },
      annotations: { 'mirror-svc-source': '@import/shop/out' },
    },
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [] },
  };
  const seen = (ips: readonly string[]) =>
    observedImports(
      { imports: [object({ spec: { type: 'ClusterSetIP', ips } })], exports: [], derived: [derived], slices: [] },
      () => 'one',
    )['import shop/out'];
  expect([seen(['10.0.0.1']), seen(['10.0.0.2']), seen([])]).toMatchObject([
    { address: 'that of its Service' },
    { address: '10.0.0.2' },
    { address: 'none' },
  ]);
});
