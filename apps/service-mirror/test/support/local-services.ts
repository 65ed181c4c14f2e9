import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { MIRRORS } from './mirror-process.ts';
import { readyAddresses, type Slice } from './slices.ts';

/** The kinds of objects in the mirror namespace. */
export type LocalKind = 'services' | 'endpointslices' | 'endpoints';

/** The objects in the mirror namespace, and foreign edits of them. */
export class LocalServices {
  readonly #cluster: TestCluster;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  async services(): Promise<readonly KubeObject[]> {
    return this.#cluster.admin.list(pathOf('services'));
  }

  service(name: string): Promise<KubeObject> {
    return this.#cluster.admin.get(pathOf('services', name));
  }

  /** The slices of one Service, or all. */
  async slices(service?: string): Promise<readonly Slice[]> {
    const selector =
      service === undefined ? '' : `?labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${service}`)}`;
    return (await this.#cluster.admin.list(`${pathOf('endpointslices')}${selector}`)) as unknown as readonly Slice[];
  }

  /** The names of existing Endpoints. */
  async endpointsObjects(): Promise<readonly string[]> {
    const endpoints = await this.#cluster.admin.list(pathOf('endpoints'));
    return endpoints.map(({ metadata }) => metadata.name).toSorted();
  }

  /**
   * The ready addresses of each Service, sorted; those that have no slice are there with none, and slices that outlive
   * their Service are there under its name.
   */
  async endpoints(): Promise<Readonly<Record<string, readonly string[]>>> {
    const [services, slices] = await Promise.all([this.services(), this.slices()]);
    return { ...Object.fromEntries(services.map(({ metadata: { name } }) => [name, []])), ...readyAddresses(slices) };
  }

  /** Waits until the Services and their ready addresses are exactly these. */
  become(expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
    return eventually(() => this.endpoints(), expected);
  }

  async create(kind: LocalKind, object: object): Promise<KubeObject> {
    return this.#cluster.admin.create(pathOf(kind), object);
  }

  /** Patches an existing object. */
  async patch(kind: LocalKind, name: string, body: object): Promise<void> {
    const answer = await this.#cluster.admin.request('PATCH', pathOf(kind, name), body);
    if (answer.status !== 200) throw new Error(`PATCH ${name}: ${answer.status} ${String(answer.body['message'])}`);
  }

  async remove(kind: LocalKind, name: string): Promise<void> {
    await this.#cluster.admin.delete(pathOf(kind, name));
  }

  /** Removes everything, also what controllers or late requests of killed programs create meanwhile. */
  async clear(): Promise<void> {
    await eventually(async () => (await this.#removeAll()) === 0, true, { what: 'an empty mirror namespace' });
  }

  /** @returns how many objects there were */
  async #removeAll(): Promise<number> {
    let count = 0;
    for (const kind of ['services', 'endpoints', 'endpointslices'] as const) {
      for (const { metadata } of await this.#cluster.admin.list(pathOf(kind))) {
        await this.remove(kind, metadata.name);
        count += 1;
      }
    }
    return count;
  }
}

function pathOf(kind: LocalKind, name?: string): string {
  const root = kind === 'endpointslices' ? '/apis/discovery.k8s.io/v1' : '/api/v1';
  return [`${root}/namespaces/${MIRRORS}/${kind}`, ...(name === undefined ? [] : [name])].join('/');
}
