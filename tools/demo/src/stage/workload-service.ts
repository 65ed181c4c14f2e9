import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import type { RunningPod } from './workload.ts';

/** Whose Service it is, and where. */
export type ServiceOptions = {
  readonly server: TestCluster;
  readonly namespace: string;
  readonly app: string;
  /** By this its owner makes it known to other clusters. */
  readonly label: ServiceLabel;
};

/** What a Service may be for other clusters: one to mirror, or a part of a global one. */
export type ServiceLabel = 'mirror' | 'global';

/** The selector of the Services with a label, as the apps take it. */
export const selectorOf = (label: ServiceLabel): string => `${label}=true`;

const families = ['IPv4', 'IPv6'] as const;
type Family = (typeof families)[number];

/**
 * The Service of a workload. It stands in for the controller that keeps its EndpointSlices, one for each family: nothing
 * of the kind runs here.
 */
export class WorkloadService {
  readonly #options: ServiceOptions;
  #ready: readonly RunningPod[];
  #writing: Promise<void> | undefined;

  private constructor(options: ServiceOptions, ready: readonly RunningPod[]) {
    this.#options = options;
    this.#ready = ready;
  }

  /** Creates it, with slices of the pods that are ready. */
  static async create(options: ServiceOptions, ready: readonly RunningPod[]): Promise<WorkloadService> {
    const { server, namespace, app, label } = options;
    const created = new WorkloadService(options, ready);
    const object = service({ name: app, namespace, labels: { [label]: 'true' }, spec: { ipFamilyPolicy: 'PreferDualStack' } });
    await server.admin.create(created.#servicesPath, object);
    await Promise.all(families.map((family) => server.admin.create(created.#slicesPath, created.#slice(family))));
    return created;
  }

  /** Other pods are ready than before. Resolves when the slices say so, or something newer. */
  publish(ready: readonly RunningPod[]): Promise<void> {
    this.#ready = ready;
    this.#writing ??= this.#write();
    return this.#writing;
  }

  /** Deletes it, with its slices. */
  async delete(): Promise<void> {
    const { server, app } = this.#options;
    await server.admin.delete(`${this.#servicesPath}/${app}`);
    await Promise.all(families.map((family) => server.admin.delete(`${this.#slicesPath}/${this.#sliceName(family)}`)));
  }

  /** What comes while a slice is written is written together, as Kubernetes' controller does. */
  async #write(): Promise<void> {
    let written: readonly RunningPod[];
    do {
      written = this.#ready;
      await Promise.all(families.map((family) => this.#update(family)));
    } while (written !== this.#ready);
    this.#writing = undefined;
  }

  async #update(family: Family): Promise<void> {
    const path = `${this.#slicesPath}/${this.#sliceName(family)}`;
    const { status, body } = await this.#options.server.admin.request('PUT', path, this.#slice(family));
    if (status !== 200) throw new Error(`PUT ${path}: ${status} ${String(body['message'])}`);
  }

  #slice(family: Family): KubeObject {
    const { namespace, app, label } = this.#options;
    const endpoints = this.#ready.flatMap(({ object, ips }) => ips.filter((ip) => familyOf(ip) === family).map((ip) => endpointOf(object, ip)));
    return endpointSlice({ name: this.#sliceName(family), service: app, namespace, labels: { [label]: 'true' }, addressType: family, endpoints });
  }

  #sliceName(family: Family): string {
    return `${this.#options.app}-${family.toLowerCase()}`;
  }

  get #servicesPath(): string {
    return `/api/v1/namespaces/${this.#options.namespace}/services`;
  }

  get #slicesPath(): string {
    return `/apis/discovery.k8s.io/v1/namespaces/${this.#options.namespace}/endpointslices`;
  }
}

const familyOf = (ip: string): Family => (ip.includes(':') ? 'IPv6' : 'IPv4');

/** A ready one on a node of its own cluster. */
function endpointOf({ metadata: { name, namespace } }: KubeObject, ip: string) {
  return {
    addresses: [ip],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'node-1',
    targetRef: { kind: 'Pod', namespace, name },
  };
}
