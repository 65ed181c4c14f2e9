import { cp, rm } from 'node:fs/promises';
import { eventually } from '@kube-semaphore/eventually';
import { freePort } from '@kube-semaphore/fault-proxy';
import type { Binaries } from './binaries.ts';
import { type Files, etcd, kubeApiserver, kubeControllerManager } from './components.ts';
import { ComponentError, isListening, startComponent } from './start-component.ts';
import type { Running, Supervision } from './supervision.ts';

const PORT_ATTEMPTS = 5;

/** What a control plane is made of. */
export type ControlPlaneOptions = {
  readonly supervision: Supervision;
  readonly paths: Extract<Binaries, { ok: true }>['paths'];
  readonly files: Files;
  readonly audit: boolean;
  readonly flags: Readonly<Record<string, string>>;
  /** Whether the API server at `url` serves requests. */
  readonly serves: (url: string) => Promise<boolean>;
};

/** etcd and kube-apiserver, and what can be done to them. The methods are not for use at the same time. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  #etcd: Running | undefined;
  #apiserver: Running | undefined;
  #port = 0;
  #snapshots = 0;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
  }

  /** `https://127.0.0.1:<port>`; the same after a restart. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Resolves once the API server serves requests. */
  async start(): Promise<void> {
    // etcd first: a client that finds nobody at its address tries again only a second later.
    await this.#startEtcd();
    for (let attempt = 1; this.#apiserver === undefined; attempt += 1) {
      this.#port = await freePort();
      try {
        await this.#startApiserver();
      } catch (error) {
        if (attempt === PORT_ATTEMPTS || !this.#portWasTaken(error)) throw error;
      }
    }
  }

  /** Kills the API server, and leaves it so until it is restarted. */
  async stopApiserver(): Promise<void> {
    await this.#apiserver?.kill();
  }

  /** Kills the API server and starts it again on its port. */
  async restartApiserver(): Promise<void> {
    await this.#apiserver?.kill();
    await this.#startApiserver();
  }

  /** Kills etcd and starts it again under the running API server. */
  async restartEtcd(): Promise<void> {
    await this.#etcd?.kill();
    await this.#startEtcd();
    await this.#recovered();
  }

  /** Copies what etcd holds, for which it is restarted, and returns the copy's folder. */
  async snapshot(): Promise<string> {
    const { etcdData } = this.#options.files;
    this.#snapshots += 1;
    const copy = `${etcdData}-${this.#snapshots}`;
    await this.#etcd?.kill();
    await cp(etcdData, copy, { recursive: true });
    await this.#startEtcd();
    await this.#recovered();
    return copy;
  }

  /** Puts a snapshot back, as an operator would after losing etcd: both are stopped meanwhile. */
  async restore(snapshot: string): Promise<void> {
    const { etcdData } = this.#options.files;
    await this.#apiserver?.kill();
    await this.#etcd?.kill();
    await rm(etcdData, { recursive: true });
    await cp(snapshot, etcdData, { recursive: true });
    await this.#startEtcd();
    await this.#startApiserver();
  }

  /** Starts kube-controller-manager, which is never restarted: it finds the API server again by itself. */
  async startControllerManager(others: readonly string[]): Promise<void> {
    const { supervision, paths, files } = this.#options;
    // It listens nowhere. What it does comes about when it has synced, and tests wait for that.
    await startComponent(supervision, kubeControllerManager(paths, files, others), () => Promise.resolve(true));
  }

  async #startEtcd(): Promise<void> {
    const { supervision, paths, files } = this.#options;
    this.#etcd = await startComponent(supervision, etcd(paths, files), () => isListening(files.etcdSocket));
  }

  async #startApiserver(): Promise<void> {
    const { supervision, paths, files, audit, flags } = this.#options;
    const component = kubeApiserver(paths, files, { port: this.#port, audit, flags });
    this.#apiserver = await startComponent(supervision, component, () => this.#options.serves(this.url));
  }

  /** Waits for an API server that lost etcd to find it again. */
  async #recovered(): Promise<void> {
    await eventually(() => this.#options.serves(this.url), true, { what: 'an answer from kube-apiserver' });
  }

  #portWasTaken(error: unknown): boolean {
    return error instanceof ComponentError && error.message.includes(`:${this.#port}: bind: address already in use`);
  }
}
