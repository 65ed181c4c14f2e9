import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { globalServiceName, mirrorServiceName } from '@kube-semaphore/service-mirror/names';
import { createPod, deletePod, endpointSlice, pod, service } from '@kube-semaphore/testkit';

type RunningPod = { readonly name: string; readonly ips: readonly string[] };

/** Pods that a rolling update replaces at a time. */
const SURGE = 5;

/** The label of pods that other clusters should know. */
export const memberLabel = nameLabel(labelDomains[0]);

/**
 * The pods and the Service of one app. The controllers of Deployments and EndpointSlices, the scheduler and the kubelet
 * do not run here: this does their work.
 */
export class Workload {
  readonly cluster: string;
  readonly namespace: string;
  readonly app: string;
  /** Unique: `c2/shop/checkout`. */
  readonly id: string;
  /** The name of its set in other clusters. */
  readonly setName: string;
  /** The name of its Service's mirror in other clusters. */
  readonly mirrorName: string;
  /** The name of its global Service. */
  readonly globalName: string;
  /** Its pods after the present change. */
  pods: readonly RunningPod[] = [];
  /** The kind of its Service, if it has one: to mirror, or part of a global Service. */
  label: 'mirror' | 'global' | undefined;
  readonly #server: TestCluster;
  readonly #nextIps: () => readonly string[];
  /** The pods that exist, and aren't about to be deleted. */
  #ready: readonly RunningPod[] = [];
  #written: Promise<unknown> = Promise.resolve();
  #revision = 1;
  #created = 0;

  /** @param name its namespace and app: `shop/checkout` */
  constructor({ server, nextIps }: { server: TestCluster; nextIps: () => readonly string[] }, name: string) {
    const [namespace = '', app = ''] = name.split('/');
    this.cluster = server.name;
    this.namespace = namespace;
    this.app = app;
    this.id = `${this.cluster}/${name}`;
    this.setName = `${this.cluster}-${namespace}-${app}`;
    this.mirrorName = mirrorServiceName(this.cluster, namespace, app);
    this.globalName = globalServiceName(namespace, app);
    this.#server = server;
    this.#nextIps = nextIps;
  }

  /** Creates or deletes pods until there are this many, all at once. */
  async scale(replicas: number): Promise<void> {
    const [kept, surplus] = [this.pods.slice(0, replicas), this.pods.slice(replicas)];
    const added = Array.from({ length: replicas - kept.length }, () => this.#newPod());
    this.pods = [...kept, ...added];
    await Promise.all([...added.map((each) => this.#create(each)), ...surplus.map((each) => this.#delete(each))]);
  }

  /** Replaces all pods, a few at a time: new ones run before old ones are deleted. */
  async rollOut(): Promise<void> {
    const old = this.pods;
    this.#revision += 1;
    this.pods = old.map(() => this.#newPod());
    for (let index = 0; index < old.length; index += SURGE) {
      const batch = [index, index + SURGE] as const;
      await Promise.all(this.pods.slice(...batch).map((each) => this.#create(each)));
      await Promise.all(old.slice(...batch).map((each) => this.#delete(each)));
    }
  }

  /** Creates its Service, then an EndpointSlice for each address family. */
  async expose(label: 'mirror' | 'global'): Promise<void> {
    this.label = label;
    const { namespace, app: name } = this;
    const spec = { ipFamilyPolicy: 'PreferDualStack' };
    await this.#server.admin.create(this.#services, service({ name, namespace, labels: { [label]: 'true' }, spec }));
    await this.#writeSlices('POST');
  }

  /** Deletes the Service and its slices. The pods stay. */
  async withdraw(): Promise<void> {
    this.label = undefined;
    await this.#server.admin.delete(`${this.#services}/${this.app}`);
    await this.#writeSlices('DELETE');
  }

  #newPod(): RunningPod {
    this.#created += 1;
    return { name: `${this.app}-v${this.#revision}-${this.#created}`, ips: this.#nextIps() };
  }

  async #create(created: RunningPod): Promise<void> {
    const labels = { app: this.app, [memberLabel]: this.app };
    await createPod(this.#server.admin, pod({ ...created, namespace: this.namespace, labels }));
    await this.#publish([...this.#ready, created]);
  }

  async #delete(deleted: RunningPod): Promise<void> {
    // An endpoint is not ready as soon as its pod begins to terminate.
    await Promise.all([
      this.#publish(this.#ready.filter((each) => each !== deleted)),
      deletePod(this.#server.admin, { name: deleted.name, namespace: this.namespace }),
    ]);
  }

  /** Changes during a write of the slices are written together, as by Kubernetes' controller. */
  async #publish(ready: readonly RunningPod[]): Promise<void> {
    this.#ready = ready;
    const isLatest = () => this.label !== undefined && ready === this.#ready;
    await (this.#written = this.#written.then(() => (isLatest() ? this.#writeSlices('PUT') : undefined)));
  }

  async #writeSlices(method: 'POST' | 'PUT' | 'DELETE'): Promise<void> {
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${this.namespace}/endpointslices`;
    const write = async (slice: ReturnType<typeof endpointSlice>) => {
      const path = method === 'POST' ? slices : `${slices}/${slice.metadata.name}`;
      const { status, body } = await this.#server.admin.request(method, path, method === 'DELETE' ? undefined : slice);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${String(body['message'])}`);
    };
    await Promise.all([this.#slice('IPv4'), this.#slice('IPv6')].map(write));
  }

  #slice(addressType: 'IPv4' | 'IPv6') {
    const { app, namespace } = this;
    const name = `${app}-${addressType.toLowerCase()}`;
    const endpoints = this.#ready.map((each) => ({
      addresses: each.ips.filter((ip) => ip.includes(':') === (addressType === 'IPv6')),
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', namespace, name: each.name },
    }));
    const labels = { [String(this.label)]: 'true' };
    return endpointSlice({ name, service: app, namespace, addressType, endpoints, labels });
  }

  get #services(): string {
    return `/api/v1/namespaces/${this.namespace}/services`;
  }
}
