import { describe, expect, it } from 'vitest';
import { orphanRemovals, type Namespace } from './orphans.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';

type StringMap = Readonly<Record<string, string>>;

const definition = {
  headless: false,
  families: ['IPv4'],
  ports: [],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
} as const;
const mirrored = (prefix: string) => ({ 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': prefix });
const of = (source: string) => ({ 'mirror-svc-source': source });

function service(
  name: string,
  labels: StringMap,
  annotations: StringMap = {},
  more: Partial<ObservedService> = {},
): ObservedService {
  const identity = { name, uid: name, resourceVersion: '1', createdAt: 0, familyPolicy: 'SingleStack' };
  return {
    ...identity,
    labels,
    annotations,
    definition,
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
    ...more,
  };
}

const slice = (name: string, labels: StringMap, annotations: StringMap = {}): ObservedSlice => ({
  name,
  labels,
  annotations,
  uid: name,
  resourceVersion: '1',
  owners: [],
  family: 'IPv4',
  ports: [],
  endpoints: [],
});
const part = (name: string, cluster: string, owner = 'gl-a-73736d-web') =>
  slice(name, {
    'mirrored-endpoint-slice': 'true',
    'mirror-endpointslice-sync-name': cluster,
    'kubernetes.io/service-name': owner,
  });
const global = (clusters: string, more: StringMap = {}) =>
  service('gl-a-73736d-web', { 'global-svc': 'true' }, { 'global-svc-clusters': clusters, ...more });
const endpoints = (name: string, labels: StringMap): ObservedEndpoints => ({
  name,
  labels,
  uid: name,
  resourceVersion: '1',
  addresses: [],
});

/** The removals in a namespace, as text. */
function left(
  namespace: Partial<Namespace>,
  { cluster = 'c9', served = [] }: { cluster?: string; served?: readonly string[] } = {},
): readonly string[] {
  return orphanRemovals({ services: [], slices: [], endpoints: [], ...namespace }, { cluster, served }).map(
    (change) => {
      const { name } = change.from;
      if (change.kind !== 'update-service') return `${change.kind} ${name}`;
      const { 'global-svc-clusters': clusters, 'global-svc-conflicts': conflicts = '-' } = change.to.annotations;
      return `${change.kind} ${name} ${clusters} ${conflicts}`;
    },
  );
}

describe("the removal of a cluster's mirrors", () => {
  it.each<{ name: string; labels: StringMap; annotations?: StringMap; served?: readonly string[]; goes: boolean }>([
    { name: 'goes by the source', labels: mirrored('p9'), annotations: of('c9/a/web'), goes: true },
    { name: 'goes by the prefix, for mirrors of a Go program', labels: mirrored('c9'), goes: true },
    {
      name: 'goes by the prefix, whatever the source',
      labels: mirrored('c9'),
      annotations: of('c8/a/web'),
      goes: true,
    },
    {
      name: 'skips mirrors with the prefix whose source is served',
      labels: mirrored('c9'),
      annotations: of('c2/a/web'),
      served: ['c2'],
      goes: false,
    },
    { name: 'skips mirrors of another cluster', labels: mirrored('c2'), annotations: of('c2/a/web'), goes: false },
    {
      name: 'skips a prefix that only begins the same',
      labels: mirrored('c99'),
      annotations: of('c99/a/web'),
      goes: false,
    },
    {
      name: 'skips objects that are not ours',
      labels: { 'mirror-svc-prefix-sync': 'c9' },
      annotations: of('c9/a/web'),
      goes: false,
    },
  ])('$name', ({ labels, annotations = {}, served = [], goes }) => {
    const namespace = { services: [service('s', labels, annotations)], slices: [slice('e', labels, annotations)] };
    expect(left(namespace, { served })).toEqual(goes ? ['delete-service s', 'delete-slice e'] : []);
  });

  it('deletes Services first, and Endpoints of a Go program before slices', () => {
    const mine = mirrored('c9');
    const namespace = {
      services: [service('b', mine), service('a', mine)],
      slices: [slice('e', mine)],
      endpoints: [endpoints('a', mine), endpoints('x', mirrored('c2'))],
    };
    expect(left(namespace)).toEqual(['delete-service a', 'delete-service b', 'delete-endpoints a', 'delete-slice e']);
  });

  it('skips Services that are terminating', () => {
    expect(left({ services: [service('a', mirrored('c9'), {}, { isTerminating: true })] })).toEqual([]);
  });
});

describe("the removal of a cluster's part in global Services", () => {
  it.each<{ name: string; global: ObservedService; slices: readonly ObservedSlice[]; want: readonly string[] }>([
    {
      name: 'removes its slices and its name',
      global: global('c1,c9'),
      slices: [part('e1', 'c1'), part('e9', 'c9')],
      want: ['update-service gl-a-73736d-web c1 -', 'delete-slice e9'],
    },
    {
      name: 'removes its name in the format of a Go program',
      global: global('c9, c2,c1'),
      slices: [],
      want: ['update-service gl-a-73736d-web c1,c2 -'],
    },
    {
      name: 'removes its name from the conflicts',
      global: global('c1,c2,c9', { 'global-svc-conflicts': 'c2,c9' }),
      slices: [],
      want: ['update-service gl-a-73736d-web c1,c2 c2'],
    },
    {
      name: 'removes the annotation of the only conflict',
      global: global('c1,c9', { 'global-svc-conflicts': 'c9' }),
      slices: [],
      want: ['update-service gl-a-73736d-web c1 -'],
    },
    {
      name: 'deletes the Service of the last cluster',
      global: global('c9'),
      slices: [part('e9', 'c9')],
      want: ['delete-service gl-a-73736d-web', 'delete-slice e9'],
    },
    {
      name: 'retains a Service with slices of an unlisted cluster',
      global: global('c9'),
      slices: [part('e8', 'c8')],
      want: ['update-service gl-a-73736d-web c8 -'],
    },
    {
      name: 'ignores slices of another Service',
      global: global('c9'),
      slices: [part('e8', 'c8', 'other')],
      want: ['delete-service gl-a-73736d-web'],
    },
    {
      name: 'removes slices of an unlisted cluster',
      global: global('c1'),
      slices: [part('e9', 'c9')],
      want: ['delete-slice e9'],
    },
    { name: 'skips objects of other clusters', global: global('c1,c99'), slices: [part('e1', 'c1')], want: [] },
    {
      name: 'skips objects that are not ours',
      global: service('gl-a-73736d-web', {}, { 'global-svc-clusters': 'c9' }),
      slices: [],
      want: [],
    },
  ])('$name', ({ global: from, slices, want }) => {
    expect(left({ services: [from], slices })).toEqual(want);
  });

  it('leaves the rest of the Service as it is', () => {
    const from = {
      ...global('c1,c9', { note: 'mine', 'mirror-svc-source': 'global/a/web' }),
      familyPolicy: 'PreferDualStack',
    };
    const [change] = orphanRemovals({ services: [from], slices: [], endpoints: [] }, { cluster: 'c9', served: [] });
    expect(change).toMatchObject({
      to: {
        annotations: { note: 'mine', 'mirror-svc-source': 'global/a/web', 'global-svc-clusters': 'c1' },
        definition: { ...definition, families: ['IPv4', 'IPv6'] },
      },
    });
  });

  it('does nothing the second time', () => {
    const namespace: Namespace = {
      services: [global('c1,c9')],
      slices: [part('e1', 'c1'), part('e9', 'c9')],
      endpoints: [],
    };
    const changes = orphanRemovals(namespace, { cluster: 'c9', served: [] });
    const gone = new Set(changes.flatMap(({ kind, from }) => (kind === 'update-service' ? [] : [from.name])));
    const [updated] = changes.flatMap((change) => (change.kind === 'update-service' ? [change.to] : []));
    const services = [{ ...global('c1,c9'), annotations: updated!.annotations }];
    expect(
      orphanRemovals(
        { ...namespace, services, slices: namespace.slices.filter(({ name }) => !gone.has(name)) },
        { cluster: 'c9', served: [] },
      ),
    ).toEqual([]);
  });
});
