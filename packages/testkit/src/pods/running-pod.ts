import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { ask, type Place } from '@kube-semaphore/testnet';
import type { RunningContainer } from './container.ts';
import type { Container, PodSpec } from './pod-spec.ts';

const DEFAULT_GRACE_SECONDS = 30;

type RunningPodOptions = {
  readonly cluster: TestCluster;
  readonly object: KubeObject;
  readonly place: Place;
  readonly ips: readonly string[];
  readonly containers: ReadonlyMap<string, RunningContainer>;
};

/** A Pod whose containers run, and what its kubelet does for it. */
export class RunningPod {
  readonly #cluster: TestCluster;
  readonly #object: KubeObject;
  readonly #containers: ReadonlyMap<string, RunningContainer>;
  /** Its network: its own, or its node's. */
  readonly place: Place;
  readonly ips: readonly string[];

  constructor({ cluster, object, place, ips, containers }: RunningPodOptions) {
    this.#cluster = cluster;
    this.#object = object;
    this.#containers = containers;
    this.place = place;
    this.ips = ips;
  }

  get name(): string {
    return this.#object.metadata.name;
  }

  /** @throws {Error} if it has no such container */
  container(name: string): RunningContainer {
    const container = this.#containers.get(name);
    if (container === undefined) throw new Error(`${this.name} has no container ${name}`);
    return container;
  }

  /** What all its containers wrote so far. */
  get logs(): string {
    return [...this.#containers].map(([name, { output }]) => `${this.name}, ${name}:\n${output}`).join('\n');
  }

  /**
   * Waits until the probes of all containers are answered with 200, and tells the API server.
   *
   * @throws {Error} with the logs if a container is broken, or none of this happens within half a minute
   */
  async ready(): Promise<void> {
    const probed = this.#spec.containers.flatMap(({ name, readinessProbe, ports }) => {
      const { httpGet } = readinessProbe ?? {};
      return httpGet === undefined ? [] : [{ name, port: portNumber(httpGet.port, ports), path: httpGet.path ?? '/' }];
    });
    const isReady = async () => {
      const broken = [...this.#containers].find(([, { isBroken }]) => isBroken);
      if (broken !== undefined) throw new Error(`${this.name}: ${broken[0]} ends again and again\n${this.logs}`);
      for (const { port, path } of probed) if ((await this.get(port, path)).status !== 200) return false;
      return true;
    };
    await eventually(isReady, true, { what: `${this.name} to be ready`, intervalMs: 50 }).catch((error: unknown) => {
      throw new Error(`${this.name} is not ready:\n${this.logs}`, { cause: error });
    });
    await this.#report('True');
  }

  /** Asks a port in its network; status 0 means that nobody answers. */
  async get(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
    return ask(this.place, port, path).catch(() => ({ status: 0, body: '' }));
  }

  /**
   * Ends it as a kubelet does whose Pod was deleted: from now on no Service counts on it, but it goes on for as long as its
   * containers' `preStop` sleeps. Then they are asked to end, and the API server forgets the Pod. Idempotent.
   */
  async delete(): Promise<void> {
    const path = this.#path;
    // Pods that are on a node stay, marked, until their kubelet has seen to them.
    await this.#cluster.admin.delete(path);
    const pauses = this.#spec.containers.map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0);
    await delay(Math.max(...pauses) * 1_000);
    await this.stop((this.#spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000);
  }

  /**
   * Ends its containers at once, those that started last first, and lets the API server forget it if that can be reached.
   * Idempotent.
   *
   * @param graceMs what they get between SIGTERM and SIGKILL
   */
  async stop(graceMs: number): Promise<void> {
    for (const container of [...this.#containers.values()].toReversed()) await container.stop(graceMs);
    await this.#cluster.admin.delete(`${this.#path}?gracePeriodSeconds=0`).catch(() => {});
  }

  /** Leaves its containers to their fate, as when its node is lost. */
  abandon(): void {
    for (const container of this.#containers.values()) container.abandon();
  }

  /** Says of it what a node that is lost can't: that it is not ready. Its containers are as they were. */
  async unready(): Promise<void> {
    await this.#report('False');
  }

  get #path(): string {
    const { namespace, name } = this.#object.metadata;
    return `/api/v1/namespaces/${namespace}/pods/${name}`;
  }

  get #spec(): PodSpec {
    return this.#object['spec'] as PodSpec;
  }

  async #report(ready: 'True' | 'False'): Promise<void> {
    const podIPs = this.ips.map((ip) => ({ ip }));
    const status = { phase: 'Running', podIP: this.ips[0], podIPs, conditions: [{ type: 'Ready', status: ready }] };
    const { status: code, body } = await this.#cluster.admin.request('PATCH', `${this.#path}/status`, { status });
    if (code !== 200) throw new Error(`the status of ${this.name}: ${code} ${String(body['message'])}`);
  }
}

/** The number of a port that a probe names. @throws {Error} if the container has no such port */
function portNumber(port: number | string, ports: Container['ports'] = []): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({ name }) => name === port);
  if (named === undefined) throw new Error(`no port is called ${port}`);
  return named.containerPort;
}
