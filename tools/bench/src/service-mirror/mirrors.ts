import type { KubeObject, PolicyRule } from '@kube-semaphore/embedded-apiserver';
import { mirrorServiceName, serviceNameLabel } from '@kube-semaphore/service-mirror/names';
import { clusterName, type Rights } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import type { Watched } from '../measure/local-watch.ts';
import type { RemoteService } from './catalog.ts';

/** The namespace of the mirrors. */
export const MIRRORS = 'sys-semaphore';

/** The collections of mirrors. Programs write slices, or Endpoints, which no controller converts here. */
export const collections = {
  services: `/api/v1/namespaces/${MIRRORS}/services`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices`,
  endpoints: `/api/v1/namespaces/${MIRRORS}/endpoints`,
} as const;

/** The item of a mirror besides the addresses of its endpoints. */
const ITSELF = 'the Service itself';

type Endpoint = { readonly addresses: readonly string[] };
type Subset = { readonly addresses?: readonly { readonly ip: string }[] };

/** The mirrors, by the name of the Service. */
export const watchedMirrors: Watched = {
  [collections.services]: ({ metadata }) => ({ key: metadata.name, items: [ITSELF] }),
  [collections.slices]: readSlice,
  [collections.endpoints]: readEndpoints,
};

const reads = ['get', 'list', 'watch'];
const rules = (verbs: string[]): PolicyRule[] => [
  { apiGroups: [''], resources: ['services', 'endpoints'], verbs },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
];

/** The rights of semaphore-service-mirror and of the Go program. */
export const mirrorRights: Rights = {
  remote: rules(reads),
  local: rules([...reads, 'create', 'update', 'patch', 'delete']),
};

/** The name of a Service's mirror; the prefix is the name of the remote cluster. */
export function mirrorOf({ namespace, name }: Pick<RemoteService, 'namespace' | 'name'>): string {
  return mirrorServiceName(clusterName(0), namespace, name);
}

/** The expected items of these mirrors. */
export function expectedMirrors(services: readonly RemoteService[]): Map<string, ReadonlySet<string>> {
  return new Map(
    services.map((service) => [
      mirrorOf(service),
      new Set([ITSELF, ...service.backends.map(({ address }) => address)]),
    ]),
  );
}

function readSlice({ metadata: { labels = {} }, ...object }: KubeObject): Holding {
  const endpoints = (object['endpoints'] ?? []) as readonly Endpoint[];
  return { key: labels[serviceNameLabel] ?? '', items: endpoints.flatMap(({ addresses }) => addresses) };
}

function readEndpoints({ metadata: { name }, ...object }: KubeObject): Holding {
  const subsets = (object['subsets'] ?? []) as readonly Subset[];
  return { key: name, items: subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)) };
}
