import { Codec, serviceExportKind, serviceImportKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import type { Read } from '../clusters/objects.ts';
import { importOutcome, removalOutcome, type Seen, type Side } from './outcome.ts';

const at = { namespace: 'shop', name: 'web' };
const known = <T>(value: T): Read<T> => ({ known: true, value });

type Mcs = { readonly namespaces?: string[] } | null;

/** A cluster whose service-mirror calls itself as its context, and has all others as remotes. */
const side = (cluster: string, mcs: Mcs = {}, remotes = ['c1', 'c2'].map((name) => remoteStatus({ name }))): Side => ({
  cluster,
  report: { cluster, pods: [appPod({ app: 'semaphore-service-mirror', config: { name: cluster, mcs }, remotes })] },
});
const c1 = side('c1');
const silent = (cluster: string): Side => ({ cluster, report: { cluster, failure: `${cluster} is away`, pods: [] } });

const condition = (type: string, status: string, message = '') => ({
  type,
  status,
  message,
  reason: 'R',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const apiVersion = 'multicluster.x-k8s.io/v1beta1';
const metadata = { ...at, labels: { 'app.kubernetes.io/managed-by': 'semaphore-service-mirror' } };
const READY = condition('Ready', 'True');

const importOf = (clusters: readonly string[], ready: object = READY, labels: object = metadata.labels) =>
  new Codec(serviceImportKind).objectFromJson({
    apiVersion,
    kind: 'ServiceImport',
    metadata: { ...metadata, labels },
    spec: { type: 'ClusterSetIP', ports: [] },
    status: { clusters: clusters.map((cluster) => ({ cluster })), conditions: [ready] },
  });

const exportOf = (...conditions: readonly object[]) =>
  known(
    new Codec(serviceExportKind).objectFromJson({
      apiVersion,
      kind: 'ServiceExport',
      metadata,
      status: { conditions },
    }),
  );

const seenBy = (of: Side, seen: Partial<Seen> = {}): Seen => ({
  ...of,
  serviceExport: undefined,
  serviceImport: known(undefined),
  namespace: known({ metadata: { name: 'shop', namespace: '', labels: {} } } as never),
  hasKinds: known(true),
  ...seen,
});

const plan = (cluster: string): string =>
  `kubectl --context ${cluster} -n sys-semaphore exec deployment/semaphore-service-mirror -- /semaphore-service-mirror plan`;

describe('what a cluster made of an export', () => {
  it.each<{ name: string; seen: Seen; exporters?: readonly Side[]; isDone?: boolean; want: readonly string[] }>([
    { name: 'an import', seen: seenBy(side('c2'), { serviceImport: known(importOf(['c1'])) }), isDone: true, want: [] },
    {
      name: 'an import and conditions of its own export',
      seen: seenBy(c1, {
        serviceImport: known(importOf(['c1'])),
        serviceExport: exportOf(READY, condition('Conflict', 'False')),
      }),
      isDone: true,
      want: [],
    },
    {
      name: 'an import of clusters whose names are unknown',
      seen: seenBy(side('c2'), { serviceImport: known(importOf(['one'])) }),
      exporters: [silent('c1')],
      isDone: true,
      want: [],
    },
    {
      name: 'a conflict',
      seen: seenBy(c1, {
        serviceImport: known(importOf(['c1'])),
        serviceExport: exportOf(condition('Valid', 'True'), READY, condition('Conflict', 'True', 'different ports')),
      }),
      isDone: true,
      want: ['Conflict: different ports'],
    },
    {
      name: 'no conditions yet',
      seen: seenBy(c1, { serviceImport: known(importOf(['c1'])), serviceExport: exportOf() }),
      want: ['no semaphore-service-mirror has checked the export'],
    },
    {
      name: 'an import of another cluster only',
      seen: seenBy(side('c2'), { serviceImport: known(importOf(['c3'])) }),
      want: [`the import has nothing of c1: ${plan('c2')}`],
    },
    {
      name: 'an import without an address',
      seen: seenBy(side('c2'), {
        serviceImport: known(importOf(['c1'], condition('Ready', 'False', 'no port can be used'))),
      }),
      isDone: true,
      want: ["the import isn't ready: no port can be used"],
    },
    {
      name: "another program's import",
      seen: seenBy(side('c2'), { serviceImport: known(importOf(['c1'], READY, {})) }),
      want: ["the ServiceImport shop/web is another program's"],
    },
    {
      name: 'an import that may not be read',
      seen: seenBy(side('c2'), { serviceImport: { known: false, why: 'no right' } }),
      want: ['no right'],
    },
    {
      name: 'no kinds',
      seen: seenBy(side('c2'), { hasKinds: known(false) }),
      want: ['the cluster has no ServiceImports: kubectl apply --server-side -k deploy/service-mirror/mcs'],
    },
    {
      name: 'no namespace',
      seen: seenBy(side('c2'), { namespace: known(undefined) }),
      want: ['no import: there is no namespace shop; create it'],
    },
    {
      name: 'a cluster whose Pods are unknown',
      seen: seenBy(silent('c2')),
      want: ["no import, and its semaphore-service-mirror can't be asked: c2 is away"],
    },
    {
      name: 'a cluster without service-mirror',
      seen: seenBy({ cluster: 'c2', report: { cluster: 'c2', pods: [] } }),
      want: ['no import: no semaphore-service-mirror reports its status'],
    },
    {
      name: 'a config without mcs',
      seen: seenBy(side('c2', null)),
      want: ['no import: the config of semaphore-service-mirror has no section mcs'],
    },
    {
      name: 'a namespace that the config lacks',
      seen: seenBy(side('c2', { namespaces: ['other'] })),
      want: ["no import: mcs.namespaces of semaphore-service-mirror doesn't allow the namespace shop"],
    },
    {
      name: 'a config without the exporter',
      seen: seenBy(side('c2', {}, [])),
      want: ['no import: the config of semaphore-service-mirror does not have c1'],
    },
    {
      name: 'an exporter that is not reached',
      seen: seenBy(side('c2', {}, [remoteStatus({ name: 'c1', up: false })])),
      want: ['no import: semaphore-service-mirror does not reach c1'],
    },
    { name: 'another reason', seen: seenBy(side('c2')), want: [`no import: plan says why: ${plan('c2')}`] },
  ])('is $name', ({ seen, exporters = [c1], isDone = false, want }) => {
    expect(importOutcome(seen, at, exporters)).toEqual({ isDone, problems: want });
  });
});

describe('what a cluster has after an export', () => {
  it.each<{ name: string; seen: Seen; isDone: boolean; want: readonly string[] }>([
    { name: 'nothing', seen: seenBy(side('c2')), isDone: true, want: [] },
    {
      name: "other clusters' endpoints",
      seen: seenBy(side('c2'), { serviceImport: known(importOf(['c3'])) }),
      isDone: true,
      want: [],
    },
    {
      name: 'its endpoints',
      seen: seenBy(side('c2'), { serviceImport: known(importOf(['c1', 'c3'])) }),
      isDone: false,
      want: [`the import still has endpoints of c1: ${plan('c2')}`],
    },
    {
      name: 'what may not be read',
      seen: seenBy(side('c2'), { serviceImport: { known: false, why: 'no right' } }),
      isDone: false,
      want: ['no right'],
    },
  ])('is $name', ({ seen, isDone, want }) => {
    expect(removalOutcome(seen, [c1])).toEqual({ isDone, problems: want });
  });
});
