// Real: an API server judges our CustomResourceDefinitions.
import { createHash } from 'node:crypto';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployedCrds, startCluster } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';

const crds = deployedCrds('service-mirror/mcs');

/**
 * SHA-256 of `spec` in the files of sigs.k8s.io/mcs-api v0.5.2 (config/crd), as JSON with sorted keys, and without
 * descriptions, which are ours.
 */
const UPSTREAM = {
  'serviceexports.multicluster.x-k8s.io': 'c238e52422cbf35228c94ca3361be714287ebe3963361ad019e9141e4989dbfe',
  'serviceimports.multicluster.x-k8s.io': 'd441b16e95b41828e87024950cc17f0ec9f3ce3c3623f9b1dbb5a86684f5afaa',
};

test('the definitions have the schemas, names and columns of mcs-api', () => {
  const digests = crds.map((crd) => [crd.metadata.name, digest(crd['spec'])]);
  expect(Object.fromEntries(digests)).toEqual(UPSTREAM);
});

const it = test
  .extend('definitions', { scope: 'file' }, crds)
  .extend('cluster', { scope: 'file' }, async ({ definitions }, { onCleanup }): Promise<TestCluster> => {
    const cluster = await startCluster({ name: 'mcs' });
    onCleanup(() => cluster.stop());
    for (const crd of definitions) await cluster.defineResource(crd);
    return cluster;
  })
  .extend('send', ({ cluster }) => async (kind: keyof typeof PATHS, object: Body) => {
    const { status, body } = await cluster.admin.request('POST', pathOf(PATHS[kind], 'v1beta1'), bodyOf(kind, object));
    return refusalOf(status, body);
  })
  .extend('setStatus', ({ cluster }) => async (kind: keyof typeof PATHS, name: string, status: unknown) => {
    const path = pathOf(PATHS[kind], 'v1beta1');
    await cluster.admin.request(
      'POST',
      path,
      bodyOf(kind, { name, ...(kind === 'ServiceImport' && { spec: IMPORT }) }),
    );
    const answer = await cluster.admin.request('PATCH', `${path}/${name}/status`, { status });
    return refusalOf(answer.status, answer.body);
  });

type Body = { readonly name: string; readonly spec?: unknown };

const PATHS = { ServiceExport: 'serviceexports', ServiceImport: 'serviceimports' } as const;
let names = 0;
const newName = (): string => `x${names++}`;

const IMPORT = { type: 'ClusterSetIP', ports: [{ port: 80 }] };
const condition = {
  type: 'Conflict',
  status: 'True',
  reason: 'PortConflict,TypeConflict',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

describe('a ServiceExport', () => {
  it('needs no spec, and is the same in both versions', async ({ cluster, send }) => {
    expect(await send('ServiceExport', { name: 'plain' })).toBe('accepted');
    const old = await cluster.admin.get(`${pathOf('serviceexports', 'v1alpha1')}/plain`);
    expect(old).toMatchObject({ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport' });
  });

  it.for([
    { what: 'labels and annotations', spec: { exportedLabels: { a: 'b' }, exportedAnnotations: {} }, want: 'accepted' },
    {
      what: 'a label that is a number',
      spec: { exportedLabels: { a: 1 } },
      want: 'spec.exportedLabels.a FieldValueTypeInvalid',
    },
  ])('with $what: $want', async ({ spec, want }, { send }) => {
    expect(await send('ServiceExport', { name: newName(), spec })).toBe(want);
  });

  const at = 'status.conditions';
  it.for([
    { what: 'several reasons', conditions: [condition], want: 'accepted' },
    {
      what: 'a lower case status',
      conditions: [{ ...condition, status: 'true' }],
      want: `${at}[0].status FieldValueNotSupported`,
    },
    { what: 'no reason', conditions: [{ ...condition, reason: '' }], want: `${at}[0].reason FieldValueInvalid` },
    {
      what: 'a space among reasons',
      conditions: [{ ...condition, reason: 'A, B' }],
      want: `${at}[0].reason FieldValueInvalid`,
    },
    {
      what: 'a long message',
      conditions: [{ ...condition, message: 'x'.repeat(32_769) }],
      want: `${at}[0].message FieldValueTooLong`,
    },
    { what: 'one type twice', conditions: [condition, condition], want: `${at}[1] FieldValueDuplicate` },
    {
      what: 'no time',
      conditions: [{ ...condition, lastTransitionTime: undefined }],
      want: `${at}[0].lastTransitionTime FieldValueRequired`,
    },
  ])('with a condition that has $what: $want', async ({ conditions, want }, { setStatus }) => {
    expect(await setStatus('ServiceExport', 'with-status', { conditions })).toBe(want);
  });
});

describe('a ServiceImport', () => {
  it.for([
    { what: 'type and ports', spec: IMPORT, want: 'accepted' },
    { what: 'no ports', spec: { type: 'Headless', ports: [] }, want: 'accepted' },
    { what: 'no list of ports', spec: { type: 'Headless' }, want: 'spec.ports FieldValueRequired' },
    { what: 'no type', spec: { ports: [] }, want: 'spec.type FieldValueRequired' },
    { what: 'another type', spec: { ...IMPORT, type: 'ClusterIP' }, want: 'spec.type FieldValueNotSupported' },
    { what: 'three IPs', spec: { ...IMPORT, ips: ['a', 'b', 'c'] }, want: 'spec.ips FieldValueTooMany' },
    {
      what: 'a port without number',
      spec: { ...IMPORT, ports: [{ name: 'a' }] },
      want: 'spec.ports[0].port FieldValueRequired',
    },
  ])('with $what: $want', async ({ spec, want }, { send }) => {
    expect(await send('ServiceImport', { name: newName(), spec })).toBe(want);
  });

  it('has its slices Present or Absent', async ({ setStatus }) => {
    const objects = (endpointSliceObjects: string) => setStatus('ServiceImport', 'slices', { endpointSliceObjects });
    expect([await objects('Present'), await objects('Absent'), await objects('None')]).toEqual([
      'accepted',
      'accepted',
      'status.endpointSliceObjects FieldValueNotSupported',
    ]);
  });

  it('names a cluster once', async ({ setStatus }) => {
    const clusters = (...names: string[]) =>
      setStatus('ServiceImport', 'clusters', { clusters: names.map((cluster) => ({ cluster })) });
    expect([await clusters('c1', 'c2'), await clusters('c1', 'c1')]).toEqual([
      'accepted',
      'status.clusters[1] FieldValueDuplicate',
    ]);
  });
});

const pathOf = (plural: string, version: string): string =>
  `/apis/multicluster.x-k8s.io/${version}/namespaces/default/${plural}`;

const bodyOf = (kind: string, { name, spec }: Body) => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind,
  metadata: { name },
  ...(spec !== undefined && { spec }),
});

/** `accepted`, or the fields that are wrong, and how. */
function refusalOf(status: number, body: KubeObject): string {
  if (status < 300) return 'accepted';
  const { causes = [] } = (body['details'] ?? {}) as { causes?: { reason: string; field: string }[] };
  // The real server finds several things wrong with an empty text.
  return [...new Set(causes.map(({ field, reason }) => `${field} ${reason}`))].join(', ') || `${status}`;
}

const digest = (spec: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(spec)))
    .digest('hex');

/** Sorted keys, no descriptions; the order of required fields doesn't matter either. */
function sorted(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item));
    return field === 'required' ? items.map(String).toSorted() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const isSchema = field !== 'properties';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isSchema && key === 'description'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner, key)]),
  );
}
