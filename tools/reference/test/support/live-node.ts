import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Kubelet, RealCluster, RunningPod } from '@kube-semaphore/testkit';

const POLL_MS = 100;

type Spec = {
  readonly nodeName?: string;
  readonly containers: readonly { readonly image: string }[];
  readonly volumes?: readonly { readonly secret?: { readonly secretName: string } }[];
};

const specOf = (pod: KubeObject): Spec => pod['spec'] as Spec;

/** Only our images exist here. */
const isOurs = (pod: KubeObject): boolean => specOf(pod).containers.some(({ image }) => image.startsWith('semaphore-'));

const pathOf = ({ metadata }: KubeObject): string => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

type LiveNodeOptions = {
  readonly cluster: RealCluster;
  readonly kubelet: Kubelet;
  /** The first three parts of the addresses of Pods that aren't run. */
  readonly prefix: string;
};

/**
 * A cluster's scheduler and its only node. It gets Pods as soon as the Secrets exist that they mount. It runs Pods of our
 * images, marks the others as running with an address, and stops deleted ones.
 */
export class LiveNode {
  readonly #options: LiveNodeOptions;
  /** Running Pods, by UID. */
  readonly #pods = new Map<string, Promise<RunningPod>>();
  readonly #stopping = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #seeming = 0;

  constructor(options: LiveNodeOptions) {
    this.#options = options;
  }

  /** Starts to poll for Pods. */
  run(): void {
    this.#looking = this.#lookAgain(this.#stopping.signal);
  }

  /** The first Pod of a workload that still runs. @throws {Error} if there is none */
  async podOf(workload: string): Promise<RunningPod> {
    const pods = await Promise.all(this.#pods.values());
    const found = pods.find(({ name }) => name.startsWith(`${workload}-`));
    if (found === undefined) throw new Error(`no Pod of ${workload} runs`);
    return found;
  }

  /** The output of all Pods, for the report of a failure. */
  async logs(): Promise<string> {
    const pods = await Promise.allSettled(this.#pods.values());
    return pods.map((pod) => (pod.status === 'fulfilled' ? pod.value.logs : String(pod.reason))).join('\n');
  }

  /** Stops all Pods. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    await Promise.allSettled(this.#pods.values());
    await this.#options.kubelet.stop();
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A Pod that is deleted before it gets a node isn't in the next list.
      for (const pod of await this.#options.cluster.admin.list('/api/v1/pods')) await this.#look(pod).catch(() => {});
      await delay(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #look(pod: KubeObject): Promise<void> {
    if (pod.metadata['deletionTimestamp'] !== undefined) await this.#delete(pod);
    else if (specOf(pod).nodeName === undefined && (await this.#hasSecrets(pod))) await this.#take(pod);
  }

  async #hasSecrets({ metadata: { namespace }, ...pod }: KubeObject): Promise<boolean> {
    const { volumes = [] } = pod['spec'] as Spec;
    const names = volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    const { admin } = this.#options.cluster;
    const answers = await Promise.all(
      names.map((name) => admin.request('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`)),
    );
    return answers.every(({ status }) => status === 200);
  }

  async #take(pod: KubeObject): Promise<void> {
    const {
      cluster: { admin },
      kubelet,
      prefix,
    } = this.#options;
    const { name, uid = '' } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: kubelet.nodeName };
    await admin.create(`${pathOf(pod)}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target });
    if (isOurs(pod)) {
      const started = kubelet.start(pod);
      this.#pods.set(uid, started);
      // The test that waits for the Pod fails, and prints the logs.
      void started.then((running) => running.ready()).catch(() => {});
      return;
    }
    this.#seeming += 1;
    const podIP = `${prefix}.${this.#seeming}`;
    const status = {
      phase: 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await admin.request('PATCH', `${pathOf(pod)}/status`, { status });
  }

  async #delete(pod: KubeObject): Promise<void> {
    const { uid = '' } = pod.metadata;
    const started = this.#pods.get(uid);
    this.#pods.delete(uid);
    if (started !== undefined) void started.then((running) => running.delete()).catch(() => {});
    else if (!isOurs(pod)) await this.#options.cluster.admin.delete(`${pathOf(pod)}?gracePeriodSeconds=0`);
  }
}
