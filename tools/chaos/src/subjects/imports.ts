// ServiceExports and ServiceImports, by docs/mcs.md.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { inNamespace } from '../sites/objects.ts';
import { type Change, type Name, names, remotes, type State, type View } from '../subject.ts';
import {
  inForce,
  inOrder,
  isExportedHere,
  type Mesh,
  shownOrder,
  shownOrderOf,
  someAnnotations,
  someExportTo,
  type SourceEndpoint,
  type Wish,
  wishOf,
} from './orders.ts';

const GROUP = '/apis/multicluster.x-k8s.io/v1beta1';
export const [EXPORTS, IMPORTS] = [`${GROUP}/serviceexports`, `${GROUP}/serviceimports`] as const;
const [SERVICES, SLICES] = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'] as const;

const IMPORT_NAME = 'multicluster.kubernetes.io/service-name';
const SERVICE_NAME = 'kubernetes.io/service-name';
const SOURCE = 'mirror-svc-source';
const STANDBY = 'mirror-svc-standby';

/** Of Services that come and go; one stays. */
const NAMES = ['out', 'out-too'];
const STAYS = 'out-stays';

type Port = { readonly name: string; readonly protocol: string; readonly port: number; readonly appProtocol?: string };
type Spec = {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly Port[];
  readonly sessionAffinity?: string;
  readonly internalTrafficPolicy?: string;
};
type Endpoint = { readonly addresses: readonly string[]; readonly [field: string]: unknown };
type Slice = KubeObject & {
  readonly addressType: string;
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly Port[] | null;
};
type Place = { readonly cluster: Name; readonly namespace: string; readonly name: string };

/** What the ports of Services are called in one cluster, and in the next. Numbers and names conflict. */
const SOME_PORTS: readonly (readonly (readonly Port[])[])[] = [
  [[port('http', 80)], [port('http', 80)], [port('http', 82)]],
  [[port('http', 80)], [port('http', 80), port('dns', 53, 'UDP')], [port('http', 81), port('dns', 53, 'UDP')]],
  [[port('web', 80)], [port('web', 81)], [port('web', 82), port('dns', 54, 'UDP')]],
];

const portsOf = (cluster: Name): readonly (readonly Port[])[] =>
  SOME_PORTS[names.indexOf(cluster) % SOME_PORTS.length]!;

function port(name: string, number: number, protocol = 'TCP'): Port {
  return { name, protocol, port: number };
}

/** Ports of all slices of a cluster: every name that its Services ever have. */
const slicePorts = (cluster: Name): readonly Port[] => {
  const named = new Map(
    portsOf(cluster)
      .flat()
      .map(({ name, protocol }) => [name, { name, protocol, port: 8080 }]),
  );
  return [...named.values()];
};

const exportOf = ({ cluster, namespace, name }: Place, annotations: object = {}): Change => ({
  cluster,
  collection: inNamespace(EXPORTS, namespace),
  name,
  object: {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name, namespace, annotations },
    spec: {},
  },
});

const sliceOf = (
  { cluster, namespace, name }: Place,
  { suffix, endpoints }: { suffix: string; endpoints: readonly Endpoint[] },
): Change => ({
  cluster,
  collection: inNamespace(SLICES, namespace),
  name: `${name}-${suffix}`,
  object: {
    ...endpointSlice({
      name: `${name}-${suffix}`,
      namespace,
      service: name,
      addressType: 'IPv4',
      endpoints,
      ports: slicePorts(cluster),
    }),
  },
});

const annotated = (object: KubeObject, annotations: object): Record<string, unknown> => ({
  ...object,
  metadata: { ...object.metadata, annotations },
});

/** What comes, goes and changes of exports, in all clusters. @param subnet of the Pods of each cluster, such as `10.4.` */
export function changedExport(
  dice: Dice,
  { namespaces, subnet }: { readonly namespaces: readonly string[]; readonly subnet: (cluster: Name) => string },
): Change {
  const place = { cluster: dice.pick(names), namespace: dice.pick(namespaces), name: dice.pick(NAMES) };
  const { cluster, namespace, name } = place;
  const orGone = (change: Change): Change => (dice.integer(1, 5) === 1 ? { ...change, object: null } : change);
  switch (dice.pick(['export', 'export', 'service', 'service', 'slice'])) {
    case 'export':
      return orGone(exportOf(place, { ...someExportTo(dice), ...someAnnotations(dice) }));
    case 'service':
      return orGone({
        cluster,
        collection: inNamespace(SERVICES, namespace),
        name,
        object: annotated(
          service({
            name,
            namespace,
            spec: {
              ports: dice.pick(portsOf(cluster)),
              clusterIP: dice.integer(1, 4) === 1 ? 'None' : null,
              sessionAffinity: dice.pick(['None', 'None', 'ClientIP']),
              internalTrafficPolicy: dice.pick(['Cluster', 'Cluster', 'Cluster', 'Local']),
            },
          }),
          someAnnotations(dice),
        ),
      });
    case 'slice':
      return orGone(
        sliceOf(place, {
          suffix: dice.pick(['a', 'b']),
          endpoints: Array.from({ length: dice.integer(0, 3) }, () => ({
            addresses: [dice.integer(1, 10) === 1 ? '10.9.0.1' : `${subnet(cluster)}2.${dice.integer(1, 20)}`],
            conditions: dice.pick([
              { ready: true, serving: true, terminating: false },
              { ready: false, serving: true, terminating: true },
            ]),
            ...dice.pick([{}, { hostname: `host-${dice.integer(1, 9)}` }]),
          })),
        }),
      );
  }
}

/** What stays: an export in both remotes. */
export const stayingExports = (address: (cluster: Name) => string): readonly Change[] =>
  remotes.flatMap((cluster) => {
    const place = { cluster, namespace: 'shop', name: STAYS };
    return [
      {
        cluster,
        collection: inNamespace(SERVICES, 'shop'),
        name: STAYS,
        object: { ...service({ name: STAYS, namespace: 'shop', spec: { ports: [port('http', 80)] } }) },
      },
      sliceOf(place, { suffix: '0', endpoints: [{ addresses: [address(cluster)] }] }),
      exportOf(place),
    ];
  });
export const STAYING_IMPORT = STAYS;
export const STAYING_DERIVED = `mcs-shop-73736d-${STAYS}`;

/** Each conflict, by the name that the API gives it, in its order. */
const fields: Readonly<Record<string, (spec: Spec) => unknown>> = {
  PortConflict: ({ ports }) =>
    ports
      .map((each) => `${each.protocol} ${each.port} ${each.name}`)
      .toSorted()
      .join(),
  TypeConflict: isHeadless,
  SessionAffinityConflict: affinityOf,
  SessionAffinityConfigConflict: affinityOf,
  InternalTrafficPolicyConflict: (spec) => spec.internalTrafficPolicy,
};

function isHeadless({ clusterIP }: Spec): boolean {
  return clusterIP === 'None';
}

function affinityOf({ sessionAffinity = 'None' }: Spec): string {
  return sessionAffinity;
}

const isNamed =
  ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace && metadata.name === name;

type Exporter = {
  readonly cluster: string;
  readonly spec: Spec;
  readonly slices: readonly Slice[];
  readonly createdMs: number;
  readonly wish: Wish | undefined;
};

/** The exports of one name that are valid, the oldest first. */
function exportersOf(
  state: State,
  clusters: readonly string[],
  { namespace, name }: { namespace: string; name: string },
): readonly Exporter[] {
  const isIt = isNamed({ namespace, name });
  return clusters
    .flatMap((cluster): readonly Exporter[] => {
      const objects = state[cluster]!;
      const [exported, source] = [objects[EXPORTS]!.find(isIt), objects[SERVICES]!.find(isIt)];
      if (exported === undefined || source === undefined || !isExportedHere(exported, cluster)) return [];
      const slices = (objects[SLICES] as readonly Slice[]).filter(
        ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[SERVICE_NAME] === name,
      );
      const { creationTimestamp } = exported.metadata as KubeObject['metadata'] & { creationTimestamp: string };
      return [
        {
          cluster,
          spec: source['spec'] as Spec,
          slices,
          createdMs: Date.parse(creationTimestamp),
          wish: wishOf(exported) ?? wishOf(source),
        },
      ];
    })
    .toSorted((a, b) => a.createdMs - b.createdMs || (a.cluster < b.cluster ? -1 : 1));
}

const isSame = (a: Port, b: Port): boolean => a.protocol === b.protocol && a.port === b.port;

/** The ports of the oldest, and of the others those whose name and number are free. */
function mergedPorts(exporters: readonly Exporter[]): readonly Port[] {
  const merged: Port[] = [];
  for (const each of exporters.flatMap(({ spec }) => spec.ports))
    if (!merged.some((other) => other.name === each.name || isSame(other, each))) merged.push(each);
  return merged;
}

const shown = ({ name, protocol, port: number }: Port): string => `${name} ${protocol} ${number}`;

type Rules = {
  readonly namespaces: readonly string[];
  /** The endpoints that are allowed here. */
  readonly endpointsOf: (slice: Slice, cluster: string, isHeadless: boolean) => readonly SourceEndpoint[];
  readonly textsOf: (endpoints: readonly SourceEndpoint[]) => readonly string[];
  readonly mesh: Mesh;
};

/** What a cluster writes of all exports: docs/mcs.md#what-each-cluster-writes. */
export function wantedImports(
  state: State,
  clusters: readonly string[],
  { namespaces, endpointsOf, textsOf, mesh }: Rules,
): View {
  const view: Record<string, object> = {};
  for (const namespace of namespaces)
    for (const name of [...NAMES, STAYS]) {
      const exporters = exportersOf(state, clusters, { namespace, name });
      Object.assign(view, conditionsOf(state, exporters, { namespace, name }));
      const [oldest] = exporters;
      if (oldest === undefined) continue;
      const headless = isHeadless(oldest.spec);
      const ports = mergedPorts(exporters);
      const affinity = affinityOf(oldest.spec);
      const wish = inForce(mesh, 'mcs', {
        at: `${namespace}/${name}`,
        wish: oldest.wish,
        ...(mesh.localFirst && !headless && { otherwise: 'local; *' }),
      });
      view[`import ${namespace}/${name}`] = {
        type: headless ? 'Headless' : 'ClusterSetIP',
        ports: ports.map(shown),
        affinity,
        traffic: oldest.spec.internalTrafficPolicy,
        clusters: exporters.map(({ cluster }) => cluster).toSorted(),
        address: headless ? 'none' : 'that of its Service',
        order: shownOrder(wish),
      };
      if (!headless) view[`derived ${namespace}/${name}`] = { ports: ports.map(shown), affinity, headless: false };
      const slices = exporters.flatMap(({ cluster, spec, slices: own }) =>
        own.flatMap((slice) => {
          const named = slice.ports!.flatMap((each) => {
            const port = spec.ports.find((other) => other.name === each.name);
            // A port that its Service lacks keeps its name, unless another cluster has that.
            if (port === undefined) return ports.some((other) => other.name === each.name) ? [] : [each.name];
            return ports.filter((other) => isSame(other, port)).map((other) => other.name);
          });
          const { addressType, metadata } = slice;
          const source = `${cluster}/${namespace}/${metadata.name}`;
          const endpoints = endpointsOf(slice, cluster, headless);
          return named.length === 0 ? [] : [{ cluster, addressType, source, names: named.toSorted(), endpoints }];
        }),
      );
      const clustersOf = exporters.map(({ cluster }) => cluster);
      for (const slice of inOrder(slices, { ...wish, clusters: clustersOf, headless, hinted: false }, mesh))
        view[`import ${namespace}/${name} of ${slice.source}`] = {
          headless,
          ports: slice.names,
          standby: slice.standby,
          endpoints: textsOf(slice.endpoints),
        };
    }
  return view;
}

/** What the local cluster's ServiceExport says of itself, and of conflicts with others. */
function conditionsOf(
  state: State,
  exporters: readonly Exporter[],
  { namespace, name }: { namespace: string; name: string },
): View {
  const isIt = isNamed({ namespace, name });
  if (!state['c1']![EXPORTS]!.some(isIt)) return {};
  const isValid = exporters.some(({ cluster }) => cluster === 'c1');
  const [oldest, ...others] = exporters;
  const reasons = Object.entries(fields).flatMap(([reason, of]) =>
    others.some(({ spec }) => of(spec) !== of(oldest!.spec)) ? [reason] : [],
  );
  const conflict = isValid && reasons.length > 0 ? `True ${reasons.join(',')}` : 'False NoConflicts';
  return {
    [`export ${namespace}/${name}`]: {
      Valid: isValid ? 'True Valid' : 'False NoService',
      Ready: isValid ? 'True Ready' : 'False Pending',
      Conflict: conflict,
    },
  };
}

export const isOfImport = ({ metadata: { labels = {} } }: KubeObject): boolean => IMPORT_NAME in labels;

type Import = {
  readonly type: string;
  readonly ports?: readonly Port[];
  readonly ips?: readonly string[];
  readonly sessionAffinity?: string;
  readonly internalTrafficPolicy?: string;
};
type Condition = { readonly type: string; readonly status: string; readonly reason: string };

/** What is there. @param derived the Services with the addresses of imports */
export function observedImports(
  {
    imports,
    exports,
    derived,
    slices,
  }: Readonly<Record<'imports' | 'exports' | 'derived' | 'slices', readonly KubeObject[]>>,
  endpointOf: (endpoint: Endpoint) => string,
): View {
  const view: Record<string, object> = {};
  // Its key is `@import/shop/out`.
  const services = new Map(
    derived
      .filter(isOfImport)
      .map((each) => [each.metadata.annotations?.[SOURCE]!.replace('@import/', ''), each['spec'] as Spec]),
  );
  for (const [key, spec] of services)
    view[`derived ${key}`] = { ports: spec.ports.map(shown), affinity: affinityOf(spec), headless: isHeadless(spec) };
  for (const each of imports) {
    const { metadata, spec, status } = each;
    const { type, ports = [], ips = [], sessionAffinity = 'None', internalTrafficPolicy = 'Cluster' } = spec as Import;
    const key = `${metadata.namespace}/${metadata.name}`;
    const isItsService = ips.length > 0 && ips.join() === services.get(key)?.clusterIPs?.join();
    const { clusters = [] } = (status ?? {}) as { clusters?: readonly { readonly cluster: string }[] };
    view[`import ${key}`] = {
      type,
      ports: ports.map(shown),
      affinity: sessionAffinity,
      traffic: internalTrafficPolicy,
      clusters: clusters.map(({ cluster }) => cluster).toSorted(),
      address: ips.length === 0 ? 'none' : isItsService ? 'that of its Service' : ips.join(),
      order: shownOrderOf(each),
    };
  }
  for (const { metadata, status } of exports) {
    const { conditions = [] } = (status ?? {}) as { conditions?: readonly Condition[] };
    view[`export ${metadata.namespace}/${metadata.name}`] = Object.fromEntries(
      conditions.map(({ type, status: is, reason }) => [type, `${is} ${reason}`]),
    );
  }
  for (const slice of (slices as readonly Slice[]).filter(isOfImport)) {
    const { labels = {}, annotations = {} } = slice.metadata;
    const source = annotations[SOURCE]!;
    const namespace = source.split('/')[1]!;
    view[`import ${namespace}/${labels[IMPORT_NAME]} of ${source}`] = {
      headless: !(SERVICE_NAME in labels),
      ports: (slice.ports ?? []).map(({ name }) => name).toSorted(),
      standby: STANDBY in annotations,
      endpoints: (slice.endpoints ?? []).map(endpointOf).toSorted(),
    };
  }
  return view;
}
