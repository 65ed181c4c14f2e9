import type { KubeObject, TestAccount, TestClient, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { MIRRORS } from '../mirror-process.ts';
import type { RemoteServices } from '../remote-services.ts';
import { upsert } from '../upsert.ts';

/** A Service of namespace default that is global, with the addresses of its slices by their names. */
export type GoGlobal = {
  readonly name: string;
  readonly headless?: boolean;
  readonly localFirst?: boolean;
  readonly slices: Readonly<Record<string, readonly string[]>>;
};

/** The labels in the example of the Go program's README. */
export const goLabels = {
  mirror: { 'mirror.semaphore.uw.io/mirror-service': 'true' },
  global: { 'mirror.semaphore.uw.io/global-service': 'true' },
  localFirst: { 'mirror.semaphore.uw.io/global-service-routing-strategy': 'local-first' },
} as const;

const namespace = `namespaces/${MIRRORS}`;
const SLICES = `/apis/discovery.k8s.io/v1/${namespace}/endpointslices`;
const servicePorts = [{ name: 'http', port: 80, targetPort: 8080 }];
const slicePorts = [{ name: 'http', port: 8080, protocol: 'TCP' }];

export type GoGlobalsOptions = {
  /** Of the file: whether each runner first deletes the slices under its cluster's name that aren't called as its own. */
  readonly endpointSliceSync: boolean;
  readonly zones: readonly string[];
};

/**
 * What the Go program does for global services in the mirror namespace, one runner per cluster: a Service for all clusters,
 * whose annotations each update replaces, and a slice `gl-<name>` for each slice, which is that with other hints.
 */
export class GoGlobals {
  readonly #client: TestClient;
  readonly #options: GoGlobalsOptions;
  readonly #clusters = new Map<string, string[]>();

  constructor(local: TestCluster, { token }: Pick<TestAccount, 'token'>, options: GoGlobalsOptions) {
    this.#client = local.clientFor(token);
    this.#options = options;
  }

  /** The runner of one cluster starts, and reconciles all of its Services. */
  async sync(
    { cluster, isLocal = false }: { readonly cluster: string; readonly isLocal?: boolean },
    sources: readonly GoGlobal[],
  ): Promise<void> {
    const labels = { 'mirrored-endpoint-slice': 'true', 'mirror-endpointslice-sync-name': cluster };
    if (this.#options.endpointSliceSync) await this.#deleteOthers(labels, sources);
    for (const source of sources) {
      await this.#writeService(source, cluster);
      const hints = { forZones: (isLocal ? this.#options.zones : ['remote']).map((name) => ({ name })) };
      for (const [name, addresses] of Object.entries(source.slices))
        await this.#writeSlice(
          { name, addresses, service: source.name },
          { labels, place: { ...(!isLocal && { zone: 'remote' }), hints } },
        );
    }
  }

  async #deleteOthers(labels: Readonly<Record<string, string>>, sources: readonly GoGlobal[]): Promise<void> {
    const selector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const known = new Set(sources.flatMap(({ slices }) => Object.keys(slices)).map(goSliceName));
    const there = await this.#client.list(`${SLICES}?labelSelector=${encodeURIComponent(selector)}`);
    for (const { metadata } of there)
      if (!known.has(metadata.name)) await this.#client.delete(`${SLICES}/${metadata.name}`);
  }

  async #writeService({ name, headless = false, localFirst = false }: GoGlobal, cluster: string): Promise<void> {
    const clusters = [...new Set([...(this.#clusters.get(name) ?? []), cluster])];
    this.#clusters.set(name, clusters);
    const annotations = {
      'global-svc-clusters': clusters.join(','),
      ...(localFirst && { 'service.kubernetes.io/topology-aware-hints': 'auto' }),
    };
    const metadata = { name: globalName(name), namespace: MIRRORS, labels: { 'global-svc': 'true' }, annotations };
    const spec = { ports: servicePorts, ...(headless && { clusterIP: 'None' }) };
    await upsert(
      this.#client,
      `/api/v1/${namespace}/services`,
      { apiVersion: 'v1', kind: 'Service', metadata, spec },
      (there) => ({
        ...there,
        metadata: { ...there.metadata, annotations },
        spec: { ...(there['spec'] as object), ports: servicePorts },
      }),
    );
  }

  #writeSlice(
    { name, addresses, service }: { name: string; addresses: readonly string[]; service: string },
    { labels, place }: { labels: Readonly<Record<string, string>>; place: object },
  ): Promise<KubeObject> {
    const whose = {
      'kubernetes.io/service-name': globalName(service),
      'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
    };
    return upsert(this.#client, SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: goSliceName(name), namespace: MIRRORS, labels: { ...labels, ...whose } },
      addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: addresses.map((address) => ({
        addresses: [address],
        conditions: { ready: true, serving: true, terminating: false },
        ...place,
      })),
      ports: slicePorts,
    });
  }
}

/** Creates the Services that the Go program saw in a cluster, with their slices. */
export async function addGlobals(sources: RemoteServices, all: readonly GoGlobal[]): Promise<void> {
  for (const { name, headless = false, localFirst = false, slices } of all) {
    const labels = { mirror: 'false', ...goLabels.global, ...(localFirst && goLabels.localFirst) };
    await sources.add({ name, headless, labels });
    for (const [slice, endpoints] of Object.entries(slices))
      await sources.addSlice({ name: slice, service: name, labels, endpoints });
  }
}

/** Of Services in default. */
export const globalName = (name: string): string => `gl-default-73736d-${name}`;

/** The Go program's name for the slice of a source slice with this name. */
export const goSliceName = (name: string): string => `gl-${name}`;
