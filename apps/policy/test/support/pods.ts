import type { KubeObject, TestClient, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { createPod, deletePod, pod, type PodOptions } from '@kube-semaphore/testkit';

/** The fields of a pod that matter to a policy. */
export type LabelledPod = Omit<PodOptions, 'labels'> & {
  /** Value of the name label; without it the pod is in no set. */
  readonly app?: string;
  /** Domain of the name label, or several. Default: that of the first Go releases. */
  readonly domain?: string | readonly string[];
  /** Other labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Named ports of its container. */
  readonly ports?: Readonly<Record<string, number>>;
};

/** The pods of a remote cluster, and what its kubelets and users do to them. */
export class Pods {
  readonly #client: TestClient;
  readonly #namespaces = new Set(['default']);

  constructor({ admin }: TestCluster) {
    this.#client = admin;
  }

  /** Creates pods, and their namespaces. */
  async add(...pods: readonly LabelledPod[]): Promise<void> {
    for (const { namespace = 'default' } of pods) await this.#ensureNamespace(namespace);
    await Promise.all(
      pods.map(({ app, domain = 'semaphore.uw.systems', labels, ports, ...options }) => {
        const names = app === undefined ? [] : [domain].flat().map((each): [string, string] => [`${each}/name`, app]);
        const object = pod({ ...options, labels: { ...Object.fromEntries(names), ...labels } });
        return createPod(this.#client, ports === undefined ? object : withPorts(object, ports));
      }),
    );
  }

  async remove(...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => deletePod(this.#client, splitName(name))));
  }

  /** Deletes a pod on a node that doesn't answer: it stays, and should be gone after the grace period. */
  async lose(name: string, gracePeriodSeconds = 1): Promise<void> {
    const { status } = await this.#client.request('DELETE', `${pathOf(name)}?gracePeriodSeconds=${gracePeriodSeconds}`);
    if (status !== 200) throw new Error(`the pod ${name} can't be deleted: ${status}`);
  }

  async annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    await this.#patch(name, '', { metadata: { annotations } });
  }

  /** Changes the value of the name label, or removes it. */
  async relabel(name: string, app: string | null): Promise<void> {
    await this.#patch(name, '', { metadata: { labels: { 'semaphore.uw.systems/name': app } } });
  }

  async setStatus(name: string, { phase = 'Running', ips }: Pick<PodOptions, 'phase' | 'ips'>): Promise<void> {
    const addresses = ips === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) };
    await this.#patch(name, '/status', { status: { phase, ...addresses } });
  }

  /** Deletes all pods. */
  async clear(): Promise<void> {
    for (const namespace of this.#namespaces) {
      const { status } = await this.#client.request(
        'DELETE',
        `/api/v1/namespaces/${namespace}/pods?gracePeriodSeconds=0`,
      );
      if (status !== 200) throw new Error(`the pods of ${namespace} can't be deleted: ${status}`);
    }
  }

  async #patch(name: string, subresource: string, patch: object): Promise<void> {
    const { status, body } = await this.#client.request('PATCH', `${pathOf(name)}${subresource}`, patch);
    if (status !== 200) throw new Error(`the pod ${name} can't be patched: ${status} ${String(body['message'])}`);
  }

  async #ensureNamespace(name: string): Promise<void> {
    if (this.#namespaces.has(name)) return;
    const { status } = await this.#client.request('POST', '/api/v1/namespaces', { metadata: { name } });
    if (status !== 201 && status !== 409) throw new Error(`the namespace ${name} can't be created: ${status}`);
    this.#namespaces.add(name);
  }
}

function withPorts(object: KubeObject, ports: Readonly<Record<string, number>>): KubeObject {
  const { containers } = object['spec'] as { containers: readonly object[] };
  const named = Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort }));
  return { ...object, spec: { containers: containers.map((container) => ({ ...container, ports: named })) } };
}

/** `name`, or `namespace/name`. */
function splitName(name: string): { namespace: string; name: string } {
  const [first = '', second] = name.split('/');
  return second === undefined ? { namespace: 'default', name: first } : { namespace: first, name: second };
}

function pathOf(name: string): string {
  const { namespace, name: pod } = splitName(name);
  return `/api/v1/namespaces/${namespace}/pods/${pod}`;
}
