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

/** Whose image there is here; what others would do nobody asks. */
const isOurs = (pod: KubeObject): boolean => specOf(pod).containers.some(({ image }) => image.startsWith('semaphore-'));

const pathOf = ({ metadata }: KubeObject): string => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

type LiveNodeOptions = {
  readonly cluster: RealCluster;
  readonly kubelet: Kubelet;
  /** The first three parts of the addresses of Pods that only seem to run. */
  readonly prefix: string;
};

/**
 * A cluster's scheduler and its only node: Pods that controllers make are given to it as soon as the Secrets are there that
 * they mount. It runs those whose image is ours, gives the others an address and a good word, and ends what somebody deletes.
 */
export class LiveNode {
  readonly #options: LiveNodeOptions;
  /** Those that run, by their UIDs. */
  readonly #pods = new Map<string, Promise<RunningPod>>();
  readonly #stopping = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #seeming = 0;

  constructor(options: LiveNodeOptions) {
    this.#options = options;
  }

  /** Starts to look at what there is to do. */
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

  /** What all Pods wrote so far, for the report of a failure. */
  async logs(): Promise<string> {
    const pods = await Promise.allSettled(this.#pods.values());
    return pods.map((pod) => (pod.status === 'fulfilled' ? pod.value.logs : String(pod.reason))).join('\n');
  }

  /** Ends all that runs. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    await Promise.allSettled(this.#pods.values());
    await this.#options.kubelet.stop();
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // One that is gone by the time that it gets a node is none of the next list.
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
      // Whoever waits for the Pod finds out, and asks for the logs.
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
