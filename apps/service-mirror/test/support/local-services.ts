import { eventually, type KubeObject, type TestCluster } from '@kube-semaphore/testkit';
import { MIRRORS } from './mirror-process.ts';

type Slice = KubeObject & {
  readonly addressType: string;
  readonly endpoints: readonly { readonly addresses: readonly string[]; readonly conditions: { readonly ready?: boolean } }[];
};

/** What is in the mirror namespace, as its users see it. */
export class LocalServices {
  readonly #cluster: TestCluster;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  async services(): Promise<readonly KubeObject[]> {
    return this.#cluster.admin.list(`/api/v1/namespaces/${MIRRORS}/services`);
  }

  service(name: string): Promise<KubeObject> {
    return this.#cluster.admin.get(`/api/v1/namespaces/${MIRRORS}/services/${name}`);
  }

  async slices(service?: string): Promise<readonly Slice[]> {
    const selector = service === undefined ? '' : `?labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${service}`)}`;
    return (await this.#cluster.admin.list(`/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices${selector}`)) as unknown as readonly Slice[];
  }

  /** The ready addresses of each Service, sorted; those that have no slice are there with none. */
  async endpoints(): Promise<Readonly<Record<string, readonly string[]>>> {
    const [services, slices] = await Promise.all([this.services(), this.slices()]);
    const ready = (name: string) =>
      slices
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
        .flatMap(({ endpoints = [] }) => (endpoints ?? []).filter(({ conditions }) => conditions.ready !== false).flatMap(({ addresses }) => addresses));
    return Object.fromEntries(services.map(({ metadata }) => [metadata.name, ready(metadata.name).toSorted()]));
  }

  /** Waits until the Services and their ready addresses are just these. */
  become(expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
    return eventually(() => this.endpoints(), expected);
  }

  async clear(): Promise<void> {
    const { admin } = this.#cluster;
    for (const { metadata } of await this.services()) await admin.request('DELETE', `/api/v1/namespaces/${MIRRORS}/services/${metadata.name}`);
    for (const { metadata } of await this.slices()) await admin.request('DELETE', `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices/${metadata.name}`);
  }
}
