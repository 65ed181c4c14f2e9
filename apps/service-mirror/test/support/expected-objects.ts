import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { MIRRORS } from './mirror-process.ts';
import type { Slice } from './slices.ts';

type Texts = Readonly<Record<string, string>>;
type Port = { readonly name?: string; readonly port: number; readonly protocol: string; readonly targetPort?: unknown };
type Spec = { readonly clusterIP?: string; readonly ports: readonly Port[] };

/** A local Service with its slices, by what its clients see. */
type ServiceView = {
  readonly name: string;
  readonly labels: Texts | undefined;
  readonly annotations: Texts | undefined;
  readonly headless: boolean;
  readonly ports: readonly Port[];
};

/** A local slice. */
type SliceView = {
  /** Its Service, by its label and by its owner's UID. */
  readonly service: string;
  /** `<cluster>/<namespace>/<name>` */
  readonly source: string;
  readonly addressType: string;
  readonly ports: unknown;
  readonly endpoints: unknown;
};

/** Everything in the mirror namespace, sorted. */
export type LocalView = { readonly services: readonly ServiceView[]; readonly slices: readonly SliceView[] };

const SERVICE_NAME = 'kubernetes.io/service-name';
const SOURCE = 'mirror-svc-source';

const pathsIn = (namespace: string) => ({
  services: `/api/v1/namespaces/${namespace}/services`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
});

/** The Services of one namespace, with their slices. */
async function objectsIn(
  { admin }: TestCluster,
  namespace: string,
): Promise<{ readonly services: readonly KubeObject[]; readonly slices: readonly Slice[] }> {
  const { services, slices } = pathsIn(namespace);
  const [all, allSlices] = await Promise.all([admin.list(services), admin.list(slices)]);
  return { services: all, slices: allSlices as unknown as readonly Slice[] };
}

/** The existing objects. */
export async function observedView(local: TestCluster): Promise<LocalView> {
  const { services, slices } = await objectsIn(local, MIRRORS);
  const uids = new Map(services.map(({ metadata }) => [metadata.uid, metadata.name]));
  return sorted({
    services: services.map(({ metadata: { name, labels, annotations }, ...object }) => ({
      name,
      labels,
      annotations,
      ...definitionOf(object),
    })),
    slices: slices.map((slice) => {
      const owners = slice.metadata['ownerReferences'] as readonly { readonly uid: string }[] | undefined;
      const labelled = slice.metadata.labels?.[SERVICE_NAME] ?? '';
      const owner = uids.get(owners?.[0]?.uid);
      return {
        service: owner === labelled ? labelled : `${labelled}, owned by ${owner}`,
        source: slice.metadata.annotations?.[SOURCE] ?? '',
        ...contentOf(slice),
      };
    }),
  });
}

/** The objects for the present sources: a mirror for each of `c2`, and a global Service for each name. Definitions agree. */
export async function wantedView({
  local,
  remote,
}: Readonly<Record<'local' | 'remote', TestCluster>>): Promise<LocalView> {
  const sources = { c1: await objectsIn(local, 'default'), c2: await objectsIn(remote, 'default') };
  const services = new Map<string, ServiceView>();
  const slices: SliceView[] = [];
  for (const [cluster, { services: all, slices: allSlices }] of Object.entries(sources)) {
    for (const object of all) {
      const { name: source, labels = {} } = object.metadata;
      const isGlobal = labels['global'] === 'true';
      if (!isGlobal && (cluster === 'c1' || labels['mirror'] !== 'true')) continue;
      const name = `${isGlobal ? 'gl' : 'c2'}-default-73736d-${source}`;
      const clusters = [...(services.get(name)?.annotations?.['global-svc-clusters']?.split(',') ?? []), cluster];
      services.set(name, {
        name,
        ...(isGlobal ? asGlobal(source, clusters) : asMirror(source)),
        ...definitionOf(object),
      });
      const own = allSlices.filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === source);
      slices.push(
        ...own.map((slice) => ({
          service: name,
          source: `${cluster}/default/${slice.metadata.name}`,
          ...contentOf(slice),
        })),
      );
    }
  }
  return sorted({ services: [...services.values()], slices });
}

function asMirror(source: string) {
  return {
    labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' },
    annotations: { [SOURCE]: `c2/default/${source}` },
  };
}

function asGlobal(source: string, clusters: readonly string[]) {
  return {
    labels: { 'global-svc': 'true' },
    annotations: { [SOURCE]: `global/default/${source}`, 'global-svc-clusters': clusters.join(',') },
  };
}

function definitionOf(object: { readonly [field: string]: unknown }): {
  readonly headless: boolean;
  readonly ports: readonly Port[];
} {
  const { clusterIP, ports } = object['spec'] as Spec;
  return { headless: clusterIP === 'None', ports };
}

/** The order of endpoints has no meaning. */
function contentOf({ addressType, ports, endpoints }: Slice) {
  return {
    addressType,
    ports,
    endpoints: (endpoints ?? []).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  };
}

function sorted({ services, slices }: LocalView): LocalView {
  const keyOf = ({ service, source }: SliceView): string => `${service} ${source}`;
  return {
    services: services.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    slices: slices.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}
