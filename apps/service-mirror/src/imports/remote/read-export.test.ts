import { Codec, serviceExportKind, serviceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { readExport, readExportedService } from './read-export.ts';

const metadata = { namespace: 'shop', name: 'web', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const exportOf = (object: object) =>
  new Codec(serviceExportKind).objectFromJson({
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata,
    ...object,
  });
const serviceOf = (spec: object, more = {}) =>
  new Codec(serviceKind).objectFromJson({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, ...more },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }], ...spec },
  });

describe('readExport', () => {
  it('keeps its age and what it exports, and none of its own labels', () => {
    const spec = { exportedLabels: { a: '1' }, exportedAnnotations: { b: '2' } };
    expect(readExport(exportOf({ metadata: { ...metadata, labels: { c: '3' } }, spec }))).toEqual({
      value: {
        uid: 'u',
        namespace: 'shop',
        name: 'web',
        createdAt: Date.UTC(2026, 0, 1),
        labels: { a: '1' },
        annotations: { b: '2' },
      },
      skipped: [],
    });
  });

  it('has the order of clusters of its own annotations, and skips one that is not valid', () => {
    const read = (order: string) =>
      readExport(exportOf({ metadata: { ...metadata, annotations: { 'semaphore.uw.io/cluster-order': order } } }));
    expect(read('local; *')).toMatchObject({
      value: { wish: { order: [{ text: 'local' }, { text: '*' }] } },
      skipped: [],
    });
    expect(read('lo cal')).toMatchObject({ value: { name: 'web' }, skipped: [{ reason: 'bad-annotation' }] });
  });

  it('exports only to the clusters that its annotation names; those of its own cluster it always does', () => {
    const annotations = { 'semaphore.uw.io/export-to': 'c2, region=eu' };
    const exported = exportOf({ metadata: { ...metadata, annotations } });
    const reasonsFor = (...importer: Parameters<typeof readExport> extends [unknown, ...infer I] ? I : never) =>
      readExport(exported, ...importer).skipped.map(({ reason }) => reason);
    expect(reasonsFor({ name: 'c9', properties: new Map() })).toEqual(['not-exported-to-us']);
    expect(reasonsFor({ name: 'c9', properties: new Map([['region', 'eu']]) })).toEqual([]);
    expect(reasonsFor({ name: 'c2', properties: new Map() })).toEqual([]);
    expect(reasonsFor()).toEqual([]);
  });

  it('exports nothing while it is being deleted', () => {
    const deleted = { ...metadata, deletionTimestamp: '2026-01-02T00:00:00Z' };
    expect(readExport(exportOf({ metadata: deleted }))).toEqual({ value: undefined, skipped: [] });
  });

  it.each([
    { what: 'a name that no Service can have', object: { metadata: { ...metadata, name: 'a.b' } }, reason: 'bad-name' },
    {
      what: 'more annotations than fit into an object',
      object: { spec: { exportedAnnotations: { a: 'x'.repeat(200_000), b: 'x'.repeat(200_000) } } },
      reason: 'too-large',
    },
  ])('is skipped with $what', ({ object, reason }) => {
    expect(readExport(exportOf(object))).toMatchObject({ value: undefined, skipped: [{ kind: 'problem', reason }] });
  });
});

describe('readExportedService', () => {
  it('has what importers copy', () => {
    const spec = { ipFamilies: ['IPv6'], sessionAffinity: 'ClientIP', trafficDistribution: 'PreferClose' };
    expect(readExportedService(serviceOf({ ...spec, internalTrafficPolicy: 'Local' }))).toEqual({
      own: { service: 'exported' },
      definition: {
        headless: false,
        families: ['IPv6'],
        ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined }],
        affinitySeconds: 10_800,
        internalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
      },
    });
  });

  it('says which of its families are used, beside all, by which clusters find conflicts', () => {
    const read = (ipFamilies: readonly string[]) =>
      readExportedService(serviceOf({ ipFamilies }), { families: [6] }).definition;
    expect(read(['IPv4', 'IPv6'])).toMatchObject({ families: ['IPv4', 'IPv6'], usedFamilies: ['IPv6'] });
    expect(read(['IPv6'])).not.toHaveProperty('usedFamilies');
  });

  it("has the order of the Service's annotations, and says so if that is not valid", () => {
    const read = (order: string) =>
      readExportedService(serviceOf({}, { annotations: { 'semaphore.uw.io/cluster-order': order } }));
    expect(read('c2')).toMatchObject({ wish: { order: [{ text: 'c2' }] } });
    expect(read('c 2')).toMatchObject({ own: { service: 'exported' }, skipped: [{ reason: 'bad-annotation' }] });
  });

  it('has the defaults of the API for what an old API server does not set', () => {
    expect(readExportedService(serviceOf({})).definition).toMatchObject({
      internalTrafficPolicy: 'Cluster',
      trafficDistribution: undefined,
    });
  });

  // It gets into the import of all clusters, which the API server would refuse.
  it.each(['x'.repeat(64), 'Prefer Close', '../x'])(
    'has no traffic distribution that no API server has: %s',
    (text) => {
      expect(readExportedService(serviceOf({ trafficDistribution: text })).definition).toMatchObject({
        trafficDistribution: undefined,
      });
    },
  );

  it.each([
    { what: 'no Service', service: undefined, own: { service: 'missing' } },
    {
      what: 'an ExternalName (R13)',
      service: serviceOf({ type: 'ExternalName', clusterIP: '' }),
      own: { service: 'external-name' },
    },
    {
      what: 'a Service that we skip',
      service: serviceOf({ ports: [{ port: 0 }] }),
      own: { service: 'skipped', detail: 'it has an invalid port' },
    },
    {
      what: 'a derived Service of ours',
      service: serviceOf({}, { labels: { 'app.kubernetes.io/managed-by': 'semaphore-service-mirror' } }),
      own: { service: 'skipped', detail: 'the Service is a copy of services of other clusters' },
    },
  ])('exports nothing with $what', ({ service, own }) => {
    expect(readExportedService(service)).toEqual({ own, definition: undefined });
  });
});
