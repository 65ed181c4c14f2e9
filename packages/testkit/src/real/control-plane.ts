import { cp, rm } from 'node:fs/promises';
import { eventually } from '@kube-semaphore/eventually';
import { freePort } from '@kube-semaphore/fault-proxy';
import { expose, type NetworkNode } from '@kube-semaphore/testnet';
import type { Binaries } from './binaries.ts';
import {
  type ControllerManagerOptions,
  etcd,
  type Files,
  kubeApiserver,
  kubeControllerManager,
  kubeScheduler,
} from './components.ts';
import { inPlace } from './node-component.ts';
import type { Component } from './protocol.ts';
import { ComponentError, isListening, startComponent } from './start-component.ts';
import type { Running, Supervision } from './supervision.ts';

const PORT_ATTEMPTS = 5;

/** Where API servers listen on machines of their own. */
const MACHINE_PORT = 6443;

/** What a control plane is made of. */
export type ControlPlaneOptions = {
  readonly supervision: Supervision;
  readonly paths: Extract<Binaries, { ok: true }>['paths'];
  readonly files: Files;
  readonly audit: boolean;
  readonly flags: Readonly<Record<string, string>>;
  /** The machine that it runs on. Default this machine. */
  readonly machine?: NetworkNode | undefined;
  /** Whether the API server at `url` serves requests. */
  readonly serves: (url: string) => Promise<boolean>;
};

/** etcd and kube-apiserver, and what can be done to them. The methods are not for use at the same time. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  #etcd: Running | undefined;
  #apiserver: Running | undefined;
  /** The controllers and the scheduler. */
  #clients: readonly { readonly component: Component; readonly running: Running }[] = [];
  #clientsStopped = false;
  #port = 0;
  #snapshots = 0;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
  }

  /** `https://127.0.0.1:<port>`; the same after a restart. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** The same server on the network of its machine. */
  get internalUrl(): string {
    const { machine } = this.#options;
    return machine === undefined ? this.url : `https://${machine.ipv4}:${MACHINE_PORT}`;
  }

  /** Resolves once the API server serves requests. */
  async start(): Promise<void> {
    // etcd first: a client whose first connection is refused tries again only a second later.
    await this.#startEtcd();
    const { machine } = this.#options;
    if (machine !== undefined) {
      this.#port = await expose(machine, MACHINE_PORT);
      await this.#startApiserver();
    }
    for (let attempt = 1; this.#apiserver === undefined; attempt += 1) {
      this.#port = await freePort();
      try {
        await this.#startApiserver();
      } catch (error) {
        if (attempt === PORT_ATTEMPTS || !this.#portWasTaken(error)) throw error;
      }
    }
  }

  /**
   * Kills the API server until it is restarted. Controllers and the scheduler end with it, as those that elect a leader end
   * when they lose their Lease. Otherwise, the controller of nodes would take an outage for the loss of all nodes.
   */
  async stopApiserver(): Promise<void> {
    await this.#apiserver?.kill();
    await this.#stopClients();
  }

  /** Kills the API server and starts it again on its port. */
  async restartApiserver(): Promise<void> {
    await this.#apiserver?.kill();
    await this.#startApiserver();
    if (this.#clientsStopped) await this.#startClients();
  }

  /** Restarts the controllers and the scheduler, which read their files once. */
  async restartClients(): Promise<void> {
    await this.#stopClients();
    await this.#startClients();
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

  /** Starts kube-controller-manager. */
  async startControllerManager(options: ControllerManagerOptions): Promise<void> {
    const { paths, files } = this.#options;
    await this.#startClient(kubeControllerManager(paths, files, options));
  }

  /** Starts kube-scheduler. */
  async startScheduler(): Promise<void> {
    const { paths, files } = this.#options;
    await this.#startClient(kubeScheduler(paths, files));
  }

  async #stopClients(): Promise<void> {
    this.#clientsStopped = true;
    await Promise.all(this.#clients.map(({ running }) => running.kill()));
  }

  async #startClients(): Promise<void> {
    const stopped = this.#clients.map(({ component }) => component);
    [this.#clients, this.#clientsStopped] = [[], false];
    for (const component of stopped) await this.#startClient(component);
  }

  async #startClient(component: Component): Promise<void> {
    // It listens nowhere. Tests wait for what it does, which begins when it has synced.
    const running = await this.#start(component, () => Promise.resolve(true));
    this.#clients = [...this.#clients, { component, running }];
  }

  async #startEtcd(): Promise<void> {
    const { paths, files } = this.#options;
    this.#etcd = await this.#start(etcd(paths, files), () => isListening(files.etcdSocket));
  }

  async #startApiserver(): Promise<void> {
    const { paths, files, audit, flags, machine } = this.#options;
    const component = kubeApiserver(paths, files, {
      ...(machine === undefined
        ? { address: '127.0.0.1', port: this.#port }
        : { address: '0.0.0.0', port: MACHINE_PORT }),
      audit,
      flags,
    });
    this.#apiserver = await this.#start(component, () => this.#options.serves(this.url));
  }

  #start(component: Component, answers: () => Promise<boolean>): Promise<Running> {
    const { supervision, machine } = this.#options;
    return startComponent(supervision, machine === undefined ? component : inPlace(machine, component), answers);
  }

  /** Waits for an API server that lost etcd to find it again. */
  async #recovered(): Promise<void> {
    await eventually(() => this.#options.serves(this.url), true, { what: 'an answer from kube-apiserver' });
  }

  #portWasTaken(error: unknown): boolean {
    return error instanceof ComponentError && error.message.includes(`:${this.#port}: bind: address already in use`);
  }
}
