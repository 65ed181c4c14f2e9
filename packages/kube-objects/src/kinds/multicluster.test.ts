import { describe, expect, it } from 'vitest';
import { Codec } from '../codec.ts';
import { clusterPropertyKind } from './cluster-property.ts';
import { serviceExportKind, serviceImportKind } from './multicluster.ts';

const v1beta1 = { apiVersion: 'multicluster.x-k8s.io/v1beta1' };
const metadata = {
  name: 'web',
  namespace: 'shop',
  uid: 'u-1',
  resourceVersion: '42',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
/** As the API server has it, with all fields. */
const condition = {
  type: 'Conflict',
  status: 'True',
  observedGeneration: 2,
  lastTransitionTime: '2026-01-02T00:00:00Z',
  reason: 'PortConflict,TypeConflict',
  message: 'x'.repeat(32_768),
};

describe('serviceExportKind', () => {
  const read = (object: object) =>
    new Codec(serviceExportKind).objectFromJson({ ...v1beta1, kind: 'ServiceExport', ...object });

  it('reads all that an export says', () => {
    const spec = { exportedLabels: { a: 'b' }, exportedAnnotations: { c: 'd' } };
    const object = read({ metadata, spec, status: { conditions: [condition] } });
    expect(object).toMatchObject({ spec, status: { conditions: [condition] } });
    expect(object.metadata.creationTimestamp).toBe(Date.UTC(2026, 0, 1));
  });

  it('reads an export without spec and status, the usual one', () => {
    expect(read({ metadata })).toMatchObject({
      spec: { exportedLabels: {}, exportedAnnotations: {} },
      status: { conditions: [] },
    });
  });

  it('refuses a condition that is longer than the schema allows by far', () => {
    const status = { conditions: [{ ...condition, message: 'x'.repeat(4 * 32_768 + 1) }] };
    expect(() => read({ metadata, status })).toThrow('message has more than 131072 bytes');
  });
});

describe('serviceImportKind', () => {
  const read = (object: object) =>
    new Codec(serviceImportKind).objectFromJson({ ...v1beta1, kind: 'ServiceImport', ...object });

  it('reads every field of the schema', () => {
    const spec = {
      type: 'ClusterSetIP',
      ports: [{ name: 'http', protocol: 'TCP', appProtocol: 'kubernetes.io/h2c', port: 80 }],
      ips: ['10.0.0.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
    };
    const status = {
      clusters: [{ cluster: 'c1' }, { cluster: 'c2' }],
      conditions: [condition],
      endpointSliceObjects: 'Present',
    };
    expect(read({ metadata, spec, status })).toMatchObject({ spec, status });
  });

  it('reads a headless import, which has few of them', () => {
    expect(read({ metadata, spec: { type: 'Headless', ports: [] } }).spec).toEqual({
      type: 'Headless',
      ports: [],
      ips: [],
      ipFamilies: [],
      sessionAffinity: '',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      internalTrafficPolicy: '',
      trafficDistribution: '',
    });
  });
});

describe('clusterPropertyKind', () => {
  it('reads the value', () => {
    const object = { apiVersion: 'about.k8s.io/v1beta1', kind: 'ClusterProperty', metadata, spec: { value: 'c1' } };
    expect(new Codec(clusterPropertyKind).objectFromJson(object).spec).toEqual({ value: 'c1' });
  });
});
