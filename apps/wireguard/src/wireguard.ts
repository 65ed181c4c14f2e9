import { ConfigError, type Health, type Logger, type Samples } from '@kube-semaphore/runtime';
import { ClusterWatches, everyPeriod, POLL_INTERVAL_MS, Runner } from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller, type Outcome, type ReconcileContext } from '@kube-semaphore/controller';
import {
  ConnectionError,
  IdleTimeoutError,
  KubeApiError,
  KubeClient,
  type RequestReport,
  type RunOptions,
} from '@kube-semaphore/kube-client';
import { remoteOfAlias } from './names.ts';
import type { WatchLinks } from '@kube-semaphore/wireguard-tools';
import { DeviceError, type DeviceTools } from './local/device.ts';
import { showDevices } from './metrics/device.ts';
import { DeviceWatch } from './local/device-watch.ts';
import { FailureLog } from './health/failure-log.ts';
import { LocalNode } from './local/node.ts';
import { observeNode } from './local/observe.ts';
import type { WireGuardMetrics } from './metrics/metrics.ts';
import { nodeProblems, ourOrphans } from './local/node-check.ts';
import type { WireGuardOptions } from './config/options.ts';
import { displacedDevices, type NodeDevices, orphanDevices } from './local/ownership.ts';
import { type Plan, type RemotePlan, orphanChanges } from './plan.ts';
import { Reconciler } from './reconciler.ts';
import type { Remote } from './remote/cluster.ts';
import { remotePlan } from './remote/plan.ts';
import { Remotes } from './remote/clusters.ts';
import type { Settings } from './config/settings.ts';
import { type RemoteStatus, remoteStatus } from './status.ts';
import { Orphans } from './local/orphans.ts';
import { Tunnels } from './health/tunnels.ts';

export type WireGuardInput = {
  readonly options: WireGuardOptions;
  readonly settings: Settings;
  readonly local: Connection;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly Connection[];
  readonly devices: DeviceTools;
  readonly watchLinks: WatchLinks;
  readonly log: Logger;
  readonly metrics: WireGuardMetrics;
  readonly userAgent: string;
};

/** How long `plan` and `status` wait for our own Node, and then for the first lists of all remotes. */
type Timeout = { readonly timeoutMs: number };

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/**
 * The whole app: the tunnels from this node to the Nodes of remote clusters. First it looks at our own Node, for that says
 * who we are; then at the devices that there are; then it watches the remotes' Nodes, and keeps the devices what they
 * should be, remote by remote.
 */
export class WireGuard {
  readonly #input: WireGuardInput;
  readonly #local: LocalNode;
  readonly #localWatches: ClusterWatches;
  readonly #remotes: Remotes;
  readonly #reconciler: Reconciler;
  readonly #controller: Controller;
  readonly #orphans: Orphans;
  readonly #tunnels: Tunnels;
  readonly #deviceWatch: DeviceWatch;
  readonly #failures: FailureLog;
  readonly #runner: Runner;
  /** Remotes whose device was set up, and isn't known to be gone. */
  readonly #standing = new Set<string>();
  /** Remotes that our Node couldn't be announced to. */
  readonly #unannounced = new Set<string>();
  /** What clusters are opened for. */
  #purpose: 'change' | 'plan' | 'status' = 'change';

  constructor(input: WireGuardInput) {
    const { options, settings, devices, log, metrics } = input;
    this.#input = input;
    this.#failures = new FailureLog(log);
    const localListed = Promise.withResolvers<void>();
    this.#localWatches = new ClusterWatches({ cluster: LOCAL, metrics, log, onFirstSync: localListed.resolve });
    this.#local = new LocalNode({
      client: this.#clientOf(input.local),
      name: options.nodeName,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#localWatches.hooks(),
      onChange: () => this.#localChanged(),
    });
    const clients = input.remotes.map((connection) => this.#clientOf(connection));
    this.#remotes = new Remotes({
      settings,
      clients,
      options,
      local: this.#local,
      log,
      metrics,
      onChange: (remote) => this.#enqueue(remote, performance.now()),
    });
    this.#tunnels = new Tunnels({ log, clock: () => this.#reconciler.clock() });
    this.#orphans = new Orphans({ tools: devices.tools, local: this.#local, remotes: settings.remotes, log, metrics });
    this.#deviceWatch = new DeviceWatch({
      watchLinks: input.watchLinks,
      remotes: new Map(settings.remotes.map(({ device, name }) => [device, name])),
      log,
      retryMs: options.observePeriodMs,
      onChange: (remote) => this.#enqueue(remote),
    });
    this.#reconciler = new Reconciler({
      ...devices,
      local: this.#local,
      keyFolder: options.wgKeyPath,
      staleSeconds: options.staleHandshakeMs / 1_000,
      nowSeconds: () => Math.floor(Date.now() / 1_000),
      log,
      onLook: (remote, { device }) => this.#tunnels.look(remote, device),
      onStanding: ({ settings: { name } }) => this.#standing.add(name),
    });
    this.#controller = new Controller({
      reconcile: (remote, context) => this.#reconcile(remote, context),
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      onFailure: (failure) => this.#failures.failed(failure),
    });
    this.#runner = new Runner({
      local: {
        what: 'our own Node',
        run: (running) => this.#local.run(running),
        listed: localListed.promise,
        isSynced: () => this.#local.synced,
        loops: () => [{ name: 'our own node', silentMs: this.#local.silentMs }],
        failure: () => this.#localWatches.failure,
      },
      watch: async (running) => {
        const { devices } = await this.#prepare(running);
        return this.#remotes.run(devices, { ...running, isRestart: this.#purpose === 'change' });
      },
      remotes: () => this.#remotes.all,
      watched: 'nodes',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  isLive(): Health {
    return this.#runner.isLive();
  }

  /** Whether the devices stand, and each remote has synced or had its time. */
  isReady(): Health {
    const missing = this.#remotes.names.filter((name) => !this.#standing.has(name));
    if (this.#runner.isWatching && missing.length > 0)
      return { ok: false, reason: `there is no device yet for ${missing.join(', ')}` };
    return this.#runner.isReady();
  }

  /** Sets the metrics of our devices to what is now. Never rejects. @returns the samples of their peers */
  async show(): Promise<Samples> {
    const { devices, settings, metrics, log } = this.#input;
    try {
      const all = await devices.tools.devices({ signal: new AbortController().signal });
      const ours = all.filter(({ name }) => settings.remotes.some(({ device }) => device === name));
      return showDevices(metrics, ours, this.#reconciler.clock());
    } catch (error) {
      log.debug({ error }, 'devices not looked at, and so not shown');
      return new Map();
    }
  }

  /**
   * Works until `signal` is aborted. Tunnels stay.
   *
   * @throws {ConfigError} if there is no such Node, or something on this node is in the way
   */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => {
      this.#enqueueAll();
      return [
        this.#controller.run(running),
        this.#deviceWatch.run(running),
        everyPeriod(this.#input.options.observePeriodMs, () => this.#observe(running), running),
        ...this.#input.settings.remotes.map(({ name, resyncPeriodMs }) =>
          everyPeriod(resyncPeriodMs, () => this.#controller.enqueue(name), running),
        ),
      ];
    });
  }

  /**
   * What `run` would do now, without doing it.
   *
   * @throws {ConfigError} as `run`; Error when our own Node can't be read in time
   */
  plan(options: RunOptions & Timeout): Promise<Plan> {
    const { settings, devices } = this.#input;
    this.#purpose = 'plan';
    return this.#runner.once(options, async (running) => {
      const around = await observeNode(devices.tools, running);
      const remotes = await Promise.all(this.#remotes.all.map((remote) => this.#planOf(remote, running)));
      return {
        strays: ourOrphans(around, settings.remotes).map(orphanChanges),
        unmarked: orphanDevices(around, settings.remotes).unmarked,
        remotes,
      };
    });
  }

  /** Whether the local cluster is known to have no Node of our name. */
  get hasNoNode(): boolean {
    return this.#local.synced && this.#local.node === undefined;
  }

  /** What there is of each remote on this node; without our own Node it goes on. */
  status(options: RunOptions & Timeout): Promise<readonly RemoteStatus[]> {
    this.#purpose = 'status';
    return this.#runner.once({ ...options, needsLocal: false }, async (running) => {
      const { devices, links } = await observeNode(this.#input.devices.tools, running);
      const ownKeys = new Set(devices.flatMap(({ publicKey }) => publicKey ?? []));
      return this.#remotes.all.map((remote) => {
        const { name, device: deviceName } = remote.settings;
        const peers = remote.peers(ownKeys);
        const desired = peers && { peers: peers.peers, left: [...remote.skipped, ...peers.left] };
        const device = devices.find((candidate) => candidate.name === deviceName);
        const marked = links.some((link) => link.name === deviceName && remoteOfAlias(link.alias) === name);
        return remoteStatus({
          remote: name,
          deviceName,
          device,
          marked,
          desired,
          failure: remote.failure,
          clock: this.#reconciler.clock(),
        });
      });
    });
  }

  /** Sees to what is in the way of all remotes. @returns what is on the node then */
  async #prepare({ signal }: RunOptions): Promise<NodeDevices> {
    const { options, settings, devices } = this.#input;
    const around = await observeNode(devices.tools, { signal });
    if (this.#purpose === 'status') return around;
    const { node } = this.#local;
    if (node === undefined) throw new ConfigError(noNode(options.nodeName));
    const problems = await nodeProblems(settings.remotes, {
      node,
      around,
      examine: (...args) => this.#reconciler.examine(...args),
      signal,
    });
    if (problems.length > 0) throw new ConfigError(problems);
    if (this.#purpose === 'plan') return around;
    // 0 is any port that is free.
    for (const device of displacedDevices(around, settings.remotes))
      await devices.tools.changeDevice(device, { listenPort: 0 }, { signal });
    return (await this.#orphans.remove(around, { signal })) ? observeNode(devices.tools, { signal }) : around;
  }

  async #planOf(remote: Remote, { signal }: RunOptions): Promise<RemotePlan> {
    const node = this.#local.node!;
    return remotePlan(remote, node, await this.#reconciler.decide(remote, node, { signal }));
  }

  async #reconcile(name: string, { signal, since }: ReconcileContext): Promise<Outcome> {
    const remote = this.#remotes.get(name);
    if (remote === undefined) return { wrote: false };
    const { metrics } = this.#input;
    const { device } = remote.settings;
    this.#deviceWatch.awaits(name, false);
    // What is set up for the first time isn't put right.
    const stood = this.#standing.has(name);
    try {
      const { wrote, peers } = await this.#reconciler.reconcile(remote, { signal });
      metrics.syncPeers.inc({ device, success: '1' });
      if (since === undefined && stood && wrote) metrics.repairs.inc({ remote: name });
      if (since !== undefined && peers > 0)
        metrics.propagation.observe({ remote: name }, (performance.now() - since) / 1000);
      this.#failures.succeeded(name);
      this.#announced(name, true);
      return { wrote };
    } catch (error) {
      if (!signal.aborted) {
        metrics.syncPeers.inc({ device, success: '0' });
        metrics.requeues.inc({ device });
        // Who backs off would find it late.
        if (error instanceof DeviceError && error.isAwaited) {
          this.#standing.delete(name);
          this.#deviceWatch.awaits(name, true);
          this.#failures.failed({ key: name, error });
          return { wrote: false };
        }
        if (error instanceof KubeApiError || error instanceof ConnectionError || error instanceof IdleTimeoutError)
          this.#announced(name, false);
      }
      throw error;
    }
  }

  /** The only API server that a reconcile writes to is our own cluster's. */
  #announced(remote: string, works: boolean): void {
    const before = this.#unannounced.size;
    if (works) this.#unannounced.delete(remote);
    else this.#unannounced.add(remote);
    const { size } = this.#unannounced;
    // Said each time: the watch of our Node, which goes on, may have said otherwise.
    if (size > 0) this.#input.metrics.remoteUp.set({ remote: LOCAL }, 0);
    else if (before > 0 && this.#localWatches.isUp) this.#input.metrics.remoteUp.set({ remote: LOCAL }, 1);
  }

  #observe({ signal }: RunOptions): void {
    this.#enqueueAll();
    void this.#lookForStrays(signal);
  }

  async #lookForStrays(signal: AbortSignal): Promise<void> {
    try {
      await this.#orphans.remove(await observeNode(this.#input.devices.tools, { signal }), { signal });
    } catch (error) {
      if (!signal.aborted) this.#input.log.debug({ error }, 'devices not looked at');
    }
  }

  #localChanged(): void {
    if (!this.#runner.isWatching) return;
    if (this.#local.node === undefined) {
      this.#input.log.warn(
        { node: this.#input.options.nodeName },
        'our own Node is gone: everything stays as it is until it is back',
      );
      return;
    }
    this.#remotes.localChanged();
    this.#enqueueAll();
  }

  #enqueueAll(since?: number): void {
    for (const name of this.#remotes.names) this.#enqueue(name, since);
  }

  #enqueue(name: string, since?: number): void {
    // Before that, nobody has looked what is in the way.
    if (this.#runner.isWatching) this.#controller.enqueue(name, since);
  }

  #clientOf(connection: Connection): KubeClient {
    const { userAgent, metrics, options } = this.#input;
    const onRequest = ({ host, method, code }: RequestReport): void =>
      metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
    return new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  }
}

/** What to say where the local cluster has no such Node. */
export const noNode = (name: string): string =>
  `there is no Node ${name} in the local cluster: -node-name or SWG_NODE_NAME`;
