import { Codec, endpointSliceKind, serviceImportKind, serviceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { type MeshCluster, meshOf } from './mesh.ts';
import { checkedOf, queryOf, safeJson, viewOf } from './view.ts';

const service = (namespace: string, name: string, annotations: object) =>
  new Codec(serviceKind).objectFromJson({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name, annotations },
  });

const serviceImport = (name: string, endpointSliceObjects: string) =>
  new Codec(serviceImportKind).objectFromJson({
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { namespace: 'shop', name },
    status: { clusters: [{ cluster: 'c2' }], endpointSliceObjects },
  });

/** Of an import, beside it or with its Service in the mirror namespace. */
const importSlice = (namespace: string, name: string, derived: string) => {
  const of = slice(name, { 'multicluster.kubernetes.io/service-name': name }, [true]);
  const labels = {
    ...of.metadata.labels,
    'multicluster.kubernetes.io/source-cluster': 'c2',
    'kubernetes.io/service-name': derived,
  };
  return { ...of, metadata: { ...of.metadata, namespace, labels } };
};

const slice = (name: string, labels: object, ready: readonly boolean[]) =>
  new Codec(endpointSliceKind).objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'sys-semaphore', name, labels },
    addressType: 'IPv4',
    endpoints: ready.map((isReady) => ({ addresses: ['10.4.0.1'], conditions: { ready: isReady } })),
  });

const skip = (reason: string, count: number) => ({ kind: 'problem' as const, reason, count });

const c1: MeshCluster = {
  report: {
    cluster: 'c1',
    pods: [
      appPod({
        app: 'semaphore-service-mirror',
        remotes: [remoteStatus({ skipped: [skip('name-too-long', 2)] }), remoteStatus({ name: 'c3', up: false })],
      }),
      appPod({
        app: 'semaphore-service-mirror',
        name: 'standby',
        leader: false,
        remotes: [remoteStatus({ skipped: [skip('name-too-long', 3)] })],
        localServices: { name: 'c1', skipped: [skip('left-behind', 1)] },
      }),
    ],
  },
  services: [
    service('sys-semaphore', 'c2-web', { 'mirror-svc-source': 'c2/shop/web' }),
    service('sys-semaphore', 'gl-db', { 'mirror-svc-source': 'global/shop/db', 'global-svc-clusters': 'c1,c2' }),
  ],
  imports: [serviceImport('near', 'Present'), serviceImport('far', 'Absent')],
  slices: [
    importSlice('shop', 'near', 'derived-a'),
    importSlice('other', 'near', 'derived-b'),
    importSlice('sys-semaphore', 'far', 'mcs-shop-73736d-far'),
    importSlice('sys-semaphore', 'far', 'mcs-other-73736d-far'),
    slice('a', { 'kubernetes.io/service-name': 'c2-web', 'mirrored-svc': 'true' }, [false]),
    slice('b', { 'kubernetes.io/service-name': 'gl-db', 'mirror-endpointslice-sync-name': 'c2' }, [true, false, true]),
  ],
  failures: ['c1: slices are gone'],
};

const mesh = meshOf([c1], '2026-01-01T00:00:00.000Z');

const view = (params = '') => viewOf({ mesh, check: null }, queryOf(new URLSearchParams(params)));

describe('the view of a mesh', () => {
  it('has problems, also of what could not be read', () => {
    expect(view().problems.rows).toEqual([
      'c3 is not reached: from c1 (service-mirror in kube-system/semaphore-service-mirror-0), since 2026-01-01T00:00:00.000Z',
      'c1: slices are gone',
    ]);
  });

  it('has the ready endpoints of each Service by cluster, those without any first', () => {
    expect(view().services.rows).toEqual([
      { cluster: 'c1', kind: 'mirror', service: 'shop/web', endpoints: [{ cluster: 'c2', ready: 0, standby: 0 }] },
      {
        cluster: 'c1',
        kind: 'global',
        service: 'shop/db',
        endpoints: [
          { cluster: 'c1', ready: 0, standby: 0 },
          { cluster: 'c2', ready: 2, standby: 0 },
        ],
      },
      { cluster: 'c1', kind: 'import', service: 'shop/far', endpoints: [{ cluster: 'c2', ready: 1, standby: 0 }] },
      { cluster: 'c1', kind: 'import', service: 'shop/near', endpoints: [{ cluster: 'c2', ready: 1, standby: 0 }] },
    ]);
  });

  it('has skipped objects once, although each replica counts them, also those of the local cluster', () => {
    const inC1 = { cluster: 'c1', app: 'semaphore-service-mirror', kind: 'problem' };
    expect(view().skipped.rows).toEqual([
      { ...inC1, remote: 'c2', reason: 'name-too-long', count: 3 },
      { ...inC1, remote: 'c1', reason: 'left-behind', count: 1 },
    ]);
  });

  it.each([
    { params: '', want: ['c3', 'c2'] },
    { params: 'filter=C2', want: ['c2'] },
    { params: 'trouble=1', want: ['c3'] },
  ])('has the pairs that are asked for, those with trouble first: $params', ({ params, want }) => {
    expect(view(params).pairs.rows.map(({ to }) => to)).toEqual(want);
  });

  it.each([
    { at: '0', want: [0, 50] },
    { at: '50', want: [50, 50] },
    { at: '51', want: [50, 50] },
    { at: '1000', want: [100, 20] },
  ])('has a page of a long list: from row $at', ({ at, want }) => {
    const long = { ...mesh, problems: Array.from({ length: 120 }, (_, i) => `problem ${i}`) };
    const { from, total, rows } = viewOf(
      { mesh: long, check: null },
      queryOf(new URLSearchParams({ problems: at })),
    ).problems;
    expect([total, from, rows.length]).toEqual([120, ...want]);
  });

  it('marks the cluster that is not reached in the picture', () => {
    const { clusters } = view().picture;
    expect(clusters.flatMap(({ name, isTroubled }) => (isTroubled ? [name] : []))).toEqual(['c3']);
  });

  it('counts the troubles of the whole mesh, whatever is asked for', () => {
    const tunnels = (['up', 'stale', 'never'] as const).map((state) => ({
      ends: [
        { cluster: 'c1', node: 'a' },
        { cluster: 'c2', node: 'b' },
      ] as const,
      state,
      handshakeAgeSeconds: null,
    }));
    const query = queryOf(new URLSearchParams('filter=nowhere'));
    const { troubles, problems } = viewOf({ mesh: { ...mesh, graph: { ...mesh.graph, tunnels } }, check: null }, query);
    expect([troubles, problems.total]).toEqual([{ problems: 2, silentTunnels: 2 }, 0]);
  });

  it('refuses a row that is not a number', () => {
    expect(() => view('pairs=-1')).toThrow('pairs is not a row');
  });

  it('has the first findings of a check, and how many there are', () => {
    const findings = Array.from({ length: 30 }, () => ({ severity: 'warning' as const, detail: 'old' }));
    const [check] = checkedOf([{ name: 'a', hint: 'b', result: 'warning', findings }], mesh.readAt).checks;
    expect([check?.total, check?.findings.length]).toEqual([30, 20]);
  });

  it('is JSON without credentials', () => {
    expect(safeJson({ ...view(), problems: ['refused: token=abc Bearer abcdefgh'] })).not.toMatch(/abc/);
  });
});
