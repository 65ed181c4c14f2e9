import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, type EndpointSliceOptions, service, type ServiceOptions } from '@kube-semaphore/testkit';

type RemoteKind = 'services' | 'endpointslices';

/** The name of an object, and its namespace; `default` without one. */
type Place = { readonly namespace?: string; readonly name: string };

const labels = { mirror: 'true' };

/** Services of a cluster, with the slices that its own controllers would create; removed after a test. */
export class RemoteServices {
  readonly #cluster: TestCluster;
  readonly #defaults: Pick<ServiceOptions, 'selector'>;
  readonly #paths = new Set<string>();

  /** @param defaults without a selector where Kubernetes' own controller runs, which would delete our slices */
  constructor(cluster: TestCluster, defaults: Pick<ServiceOptions, 'selector'> = {}) {
    this.#cluster = cluster;
    this.#defaults = defaults;
  }

  /** Adds a Service to mirror. */
  async add(options: ServiceOptions): Promise<void> {
    const object = service({ ...this.#defaults, ...options, labels: { ...labels, ...options.labels } });
    await this.#create(`/api/v1/namespaces/${object.metadata.namespace}/services`, object);
  }

  /** Adds a slice that another client than Kubernetes' controller wrote: without the labels of its Service. */
  async addHandMadeSlice(options: EndpointSliceOptions): Promise<void> {
    const managedBy = { 'endpointslice.kubernetes.io/managed-by': 'staff.example.com' };
    const object = endpointSlice({ ...options, labels: { ...managedBy, ...options.labels } });
    await this.#create(`/apis/discovery.k8s.io/v1/namespaces/${object.metadata.namespace}/endpointslices`, object);
  }

  /** Adds a slice of a Service, as Kubernetes' controller does. */
  async addSlice(options: EndpointSliceOptions): Promise<void> {
    const object = endpointSlice({ ...options, labels: { ...labels, ...options.labels } });
    await this.#create(`/apis/discovery.k8s.io/v1/namespaces/${object.metadata.namespace}/endpointslices`, object);
  }

  /** Whether it exists. */
  async has(kind: RemoteKind, at: Place): Promise<boolean> {
    const { status } = await this.#cluster.admin.request('GET', pathOf(kind, at));
    if (status !== 200 && status !== 404) throw new Error(`GET ${pathOf(kind, at)}: ${status}`);
    return status === 200;
  }

  object(kind: RemoteKind, at: Place): Promise<KubeObject> {
    return this.#cluster.admin.get(pathOf(kind, at));
  }

  async uid(kind: RemoteKind, at: Place): Promise<string> {
    return (await this.object(kind, at)).metadata.uid ?? '';
  }

  /** Adds those of these Services and slices that the API server accepts. @returns how many */
  async addAccepted(objects: readonly KubeObject[]): Promise<number> {
    let accepted = 0;
    for (const object of objects) {
      const { name, namespace = 'default' } = object.metadata;
      const path = pathOf(object['kind'] === 'Service' ? 'services' : 'endpointslices', { namespace, name });
      this.#paths.add(path);
      const { status } = await this.#cluster.admin.request('POST', path.slice(0, path.lastIndexOf('/')), object);
      if (status === 201) accepted += 1;
      else this.#paths.delete(path);
    }
    return accepted;
  }

  /** Patches an existing Service or slice. */
  async patch(kind: RemoteKind, at: Place, body: object): Promise<void> {
    const path = pathOf(kind, at);
    const answer = await this.#cluster.admin.request('PATCH', path, body);
    if (answer.status !== 200) throw new Error(`PATCH ${path}: ${answer.status} ${String(answer.body['message'])}`);
  }

  async remove(kind: RemoteKind, at: Place): Promise<void> {
    const path = pathOf(kind, at);
    await this.#cluster.admin.delete(path);
    this.#paths.delete(path);
  }

  /** Removes everything that it created. */
  async clear(): Promise<void> {
    await Promise.all(Array.from(this.#paths, (path) => this.#cluster.admin.request('DELETE', path)));
    this.#paths.clear();
  }

  async #create(collection: string, object: { metadata: { name: string } }): Promise<void> {
    // Before the request, as an API server that is killed may create it without an answer.
    this.#paths.add(`${collection}/${object.metadata.name}`);
    await this.#cluster.admin.create(collection, object as Parameters<TestCluster['admin']['create']>[1]);
  }
}

function pathOf(kind: RemoteKind, { namespace = 'default', name }: Place): string {
  return `${kind === 'services' ? '/api/v1' : '/apis/discovery.k8s.io/v1'}/namespaces/${namespace}/${kind}/${name}`;
}
