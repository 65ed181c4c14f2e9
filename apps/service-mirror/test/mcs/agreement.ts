import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { Export } from '../../src/imports/desired/export.ts';
import { mergedByRules } from './rules.ts';

type Texts = Readonly<Record<string, string>>;

/** The fields of a Service that are compared. */
type ServiceSpec = {
  readonly type: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
    readonly port: number;
    readonly appProtocol?: string;
  }[];
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP: { readonly timeoutSeconds: number } };
  readonly internalTrafficPolicy?: 'Cluster' | 'Local';
  readonly trafficDistribution?: string;
};

type Slice = KubeObject & {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
  readonly ports?: readonly { readonly name?: string; readonly port: number }[] | null;
};

/** What one cluster has of the namespace `shop`, by its admin: exports, and what a program made of all exports. */
export type ClusterState = {
  readonly name: string;
  readonly services: ReadonlyMap<string, KubeObject>;
  readonly slices: readonly Slice[];
  readonly exports: ReadonlyMap<string, KubeObject>;
  readonly imports: ReadonlyMap<string, KubeObject>;
};

/** What is compared: of each cluster the conditions of its exports, and its imports with their traffic. */
type View = Readonly<
  Record<
    string,
    {
      readonly conditions: Readonly<Record<string, readonly string[]>>;
      readonly imports: Readonly<Record<string, object>>;
    }
  >
>;

const IMPORT_NAME = 'multicluster.kubernetes.io/service-name';
const SOURCE = 'multicluster.kubernetes.io/source-cluster';

export async function readState({ name, admin }: TestCluster): Promise<ClusterState> {
  const byName = async (path: string) =>
    new Map((await admin.list(path)).map((object) => [object.metadata.name, object]));
  const group = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop';
  const [services, slices, exports, imports] = await Promise.all([
    byName('/api/v1/namespaces/shop/services'),
    admin.list('/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'),
    byName(`${group}/serviceexports`),
    byName(`${group}/serviceimports`),
  ]);
  return { name, services, slices, exports, imports };
}

/** What the clusters must have when it is quiet: computed from their exports, Services and slices alone. */
export function wantedView(states: readonly ClusterState[]): View {
  const names = [...new Set(states.flatMap(({ exports }) => [...exports.keys()]))].toSorted();
  const merged = names.map((name) => {
    const exports = states.flatMap((state) => exportOf(state, name) ?? []);
    return { name, exports, ...(exports.length > 0 && { result: mergedByRules(exports) }) };
  });
  const imports = Object.fromEntries(
    merged.flatMap(({ name, exports, result }) =>
      result === undefined ? [] : [[name, wantedImport(states, { name, exports, result })]],
    ),
  );
  const viewOf = ({ exports, services }: ClusterState): View[string] => ({
    conditions: Object.fromEntries(
      merged
        .filter(({ name }) => exports.has(name))
        .map(({ name, result }) => [name, wantedConditions(services.get(name), result?.reasons ?? [])]),
    ),
    imports,
  });
  return Object.fromEntries(states.map((state) => [state.name, viewOf(state)]));
}

/** What the clusters have. */
export const observedView = (states: readonly ClusterState[]): View =>
  Object.fromEntries(
    states.map((state) => [
      state.name,
      {
        conditions: Object.fromEntries(
          [...state.exports].map(([name, { status }]) => [name, conditionsOf(status)] as const),
        ),
        imports: Object.fromEntries([...state.imports.keys()].map((name) => [name, observedImport(state, name)])),
      },
    ]),
  );

type Merged = { readonly name: string; readonly exports: readonly Export[]; readonly result: Rules };
type Rules = ReturnType<typeof mergedByRules>;

function wantedImport(states: readonly ClusterState[], { name, exports, result }: Merged): object {
  const { headless, ports, families, ...fields } = result.fields;
  const traffic = exports.flatMap(({ cluster }) => {
    const { slices } = states.find((state) => state.name === cluster)!;
    return slices
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
      .map((slice) => ({
        ...trafficOf(slice),
        cluster,
        ports: (slice.ports ?? [])
          .flatMap((port) => {
            const imported = result.portNames[cluster]!.get(port.name ?? '');
            return imported === undefined ? [] : [`${imported} ${port.port}`];
          })
          .toSorted(),
      }))
      .filter((each) => each.ports.length > 0);
  });
  return {
    ...fields,
    type: headless ? 'Headless' : 'ClusterSetIP',
    families: families.toSorted(),
    ports: ports.map(({ name: port, protocol, port: number, appProtocol }) => [port, protocol, number, appProtocol]),
    clusters: exports.map(({ cluster }) => cluster).toSorted(),
    isReady: true,
    addresses: headless ? 0 : families.length,
    hasOwnAddresses: true,
    traffic: byText(traffic),
  };
}

function observedImport({ services, slices, imports }: ClusterState, name: string): object {
  const { metadata, ...serviceImport } = imports.get(name)!;
  const { ips = [], ...spec } = serviceImport['spec'] as ServiceSpec & { readonly ips?: readonly string[] };
  const derived = services.get(metadata.annotations?.['multicluster.kubernetes.io/derived-service'] ?? '');
  const { clusterIPs = [] } = (derived?.['spec'] ?? {}) as ServiceSpec;
  const { clusters = [], conditions = [] } = (serviceImport['status'] ?? {}) as {
    readonly clusters?: readonly { readonly cluster: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const traffic = slices
    .filter(({ metadata: { labels } }) => labels?.[IMPORT_NAME] === name)
    .map((slice) => ({
      ...trafficOf(slice),
      cluster: slice.metadata.labels?.[SOURCE],
      ports: (slice.ports ?? []).map((port) => `${port.name ?? ''} ${port.port}`).toSorted(),
    }));
  return {
    ...policiesOf(spec),
    type: spec.type,
    labels: exportedOf(metadata.labels),
    annotations: exportedOf(metadata.annotations),
    families: spec.ipFamilies?.toSorted(),
    ports: spec.ports?.map((port) => [port.name ?? '', port.protocol ?? 'TCP', port.port, port.appProtocol]),
    clusters: clusters.map(({ cluster }) => cluster),
    isReady: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    addresses: ips.length,
    hasOwnAddresses: ips.join() === clusterIPs.join(),
    traffic: byText(traffic),
  };
}

/** The valid export of a cluster. */
function exportOf({ name: cluster, services, exports }: ClusterState, name: string): Export | undefined {
  const [exported, service] = [exports.get(name), services.get(name)];
  const spec = service?.['spec'] as ServiceSpec | undefined;
  if (exported === undefined || spec === undefined || spec.type === 'ExternalName') return undefined;
  const { exportedLabels: labels = {}, exportedAnnotations: annotations = {} } = (exported['spec'] ?? {}) as {
    readonly exportedLabels?: Texts;
    readonly exportedAnnotations?: Texts;
  };
  return {
    cluster,
    createdAt: Date.parse(String(exported.metadata['creationTimestamp'])),
    definition: {
      ...policiesOf(spec),
      headless: spec.clusterIP === 'None',
      families: spec.ipFamilies ?? [],
      ports: (spec.ports ?? []).map(({ name: port = '', protocol = 'TCP', port: number, appProtocol }) => ({
        name: port,
        protocol,
        port: number,
        appProtocol,
        targetPort: undefined,
      })),
    },
    labels,
    annotations,
  };
}

const policiesOf = ({ sessionAffinity, sessionAffinityConfig, ...spec }: ServiceSpec) => ({
  affinitySeconds: sessionAffinity === 'ClientIP' ? sessionAffinityConfig?.clientIP.timeoutSeconds : undefined,
  internalTrafficPolicy: spec.internalTrafficPolicy ?? ('Cluster' as const),
  trafficDistribution: spec.trafficDistribution,
});

function wantedConditions(service: KubeObject | undefined, reasons: readonly string[]): readonly string[] {
  if (service === undefined) return ['Valid=False NoService', 'Ready=False Pending', 'Conflict=False NoConflicts'];
  if ((service['spec'] as ServiceSpec).type === 'ExternalName')
    return ['Valid=False InvalidServiceType', 'Ready=False Pending', 'Conflict=False NoConflicts'];
  const conflict = reasons.length === 0 ? 'Conflict=False NoConflicts' : `Conflict=True ${reasons.join()}`;
  return ['Valid=True Valid', 'Ready=True Ready', conflict];
}

function conditionsOf(status: unknown): readonly string[] {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
  return conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
}

const trafficOf = ({ endpoints }: Slice) => ({
  addresses: (endpoints ?? []).flatMap(({ addresses }) => addresses).toSorted(),
});

/** The keys without a domain: we add no such key. */
const exportedOf = (map: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(map).filter(([key]) => ['a', 'b'].includes(key)));

const byText = (traffic: readonly object[]): readonly string[] =>
  traffic.map((each) => JSON.stringify(each, Object.keys(each).toSorted())).toSorted();
