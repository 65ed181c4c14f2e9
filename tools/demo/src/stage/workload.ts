import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { globalServiceName, labelDomains, mirrorServiceName, nameLabel } from '@kube-semaphore/naming';
import { createPod, deletePod, pod } from '@kube-semaphore/testkit';
import { type ServiceLabel, WorkloadService } from './workload-service.ts';

/** What somebody runs in a cluster. */
export type WorkloadOptions = {
  readonly server: TestCluster;
  readonly namespace: string;
  readonly app: string;
  /** Gives a new pod its addresses, as the cluster's network would. */
  readonly nextIps: () => readonly string[];
};

/** A pod, and what its cluster's network gave it. */
export type RunningPod = { readonly object: KubeObject; readonly ips: readonly string[] };

/** How many pods a rolling update replaces at a time. */
const SURGE = 5;

/** The label by which semaphore-policy knows the pods that other clusters should know. */
export const memberLabel = nameLabel(labelDomains[0]);

/**
 * The pods of one app. It stands in for the Deployment's controllers, the scheduler and the kubelet, none of which run
 * here.
 */
export class Workload {
  readonly #options: WorkloadOptions;
  #pods: readonly RunningPod[] = [];
  /** Those that are there already, and not about to go. */
  #ready: readonly RunningPod[] = [];
  #service: WorkloadService | undefined;
  #isExposed = false;
  #revision = 1;
  #created = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  get cluster(): string {
    return this.#options.server.name;
  }

  get namespace(): string {
    return this.#options.namespace;
  }

  get app(): string {
    return this.#options.app;
  }

  /** The name of its set in other clusters. */
  get setName(): string {
    return `${this.cluster}-${this.namespace}-${this.app}`;
  }

  /** The name of its Service's mirror in other clusters. */
  get mirrorName(): string {
    return mirrorServiceName(this.cluster, this.namespace, this.app);
  }

  /** The name of the Service that merges its own with those of the same name in other clusters. */
  get globalName(): string {
    return globalServiceName(this.namespace, this.app);
  }

  /** Whether it has a Service, or will have once the change that is under way is done. */
  get isExposed(): boolean {
    return this.#isExposed;
  }

  /** Its pods, as they are or will be once the change that is under way is done. */
  get pods(): readonly RunningPod[] {
    return this.#pods;
  }

  /** Creates or deletes as many pods as it takes, all at once. */
  async scale(replicas: number): Promise<void> {
    const [kept, surplus] = [this.#pods.slice(0, replicas), this.#pods.slice(replicas)];
    const added = Array.from({ length: replicas - kept.length }, () => this.#newPod());
    this.#pods = [...kept, ...added];
    await Promise.all([...added.map((each) => this.#create(each)), ...surplus.map((each) => this.#delete(each))]);
  }

  /** Replaces all pods, a few at a time: new ones run before old ones go. */
  async rollOut(): Promise<void> {
    const old = this.#pods;
    this.#revision += 1;
    this.#pods = old.map(() => this.#newPod());
    for (let index = 0; index < old.length; index += SURGE) {
      const batch = [index, index + SURGE] as const;
      await Promise.all(this.#pods.slice(...batch).map((each) => this.#create(each)));
      await Promise.all(old.slice(...batch).map((each) => this.#delete(each)));
    }
  }

  /** Gives it a Service, which other clusters may know. */
  async expose(label: ServiceLabel): Promise<void> {
    this.#isExposed = true;
    this.#service = await WorkloadService.create({ ...this.#options, label }, this.#ready);
  }

  /** Takes the Service away; the pods go on. */
  async withdraw(): Promise<void> {
    const service = this.#service;
    this.#isExposed = false;
    this.#service = undefined;
    await service?.delete();
  }

  #newPod(): RunningPod {
    const { namespace, app, nextIps } = this.#options;
    this.#created += 1;
    const name = `${app}-v${this.#revision}-${this.#created}`;
    const ips = nextIps();
    return { object: pod({ name, namespace, ips, labels: { app, [memberLabel]: app } }), ips };
  }

  async #create(created: RunningPod): Promise<void> {
    await createPod(this.#options.server.admin, created.object);
    await this.#becomeReady([...this.#ready, created]);
  }

  async #delete(deleted: RunningPod): Promise<void> {
    // As with a real pod, whose endpoint isn't ready from the moment on at which it begins to terminate.
    await Promise.all([
      this.#becomeReady(this.#ready.filter((each) => each !== deleted)),
      deletePod(this.#options.server.admin, deleted.object.metadata),
    ]);
  }

  async #becomeReady(ready: readonly RunningPod[]): Promise<void> {
    this.#ready = ready;
    await this.#service?.publish(ready);
  }
}
