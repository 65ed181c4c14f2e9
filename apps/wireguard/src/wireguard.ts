import { Controller } from '@kube-semaphore/controller';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type AppStatus, everyPeriod, foreseeRefusals, Runner } from '@kube-semaphore/multicluster';
import type { Health } from '@kube-semaphore/runtime';
import type { WatchLinks } from '@kube-semaphore/wireguard-tools';
import type { HandshakeClock } from './mesh/desired/handshake.ts';
import { DeviceHealth } from './mesh/health/device-health.ts';
import type { DeviceTools } from './mesh/local/device.ts';
import { DeviceWatch } from './mesh/local/device-watch.ts';
import { LocalNode } from './own-node/local-node.ts';
import { observeNode } from './mesh/local/observe.ts';
import { Orphans } from './orphans/orphans.ts';
import { prepareNode, type Purpose } from './own-node/prepare-node.ts';
import { orphanPlan, type Plan, plannedWrites, remotePlan } from './plan.ts';
import { Reconciler } from './mesh/reconciler.ts';
import { Remotes, type RemotesOptions } from './mesh/remote/remotes.ts';
import { remoteStatus, servedStatus, type Status } from './status.ts';

export type WireGuardInput = Omit<RemotesOptions, 'local' | 'onChange'> & {
  readonly purpose: Purpose;
  readonly localClient: KubeClient;
  readonly devices: DeviceTools;
  readonly watchLinks: WatchLinks;
  readonly clock: () => HandshakeClock;
};

type OnceOptions = RunOptions & { readonly timeoutMs: number };

/** The whole app: the tunnels from this node to the Nodes of remote clusters. Each key of its controller is a remote. */
export class WireGuard {
  readonly #input: WireGuardInput;
  readonly #local: LocalNode;
  readonly #remotes: Remotes;
  readonly #health: DeviceHealth;
  readonly #reconciler: Reconciler;
  readonly #controller: Controller;
  readonly #orphans: Orphans;
  readonly #deviceWatch: DeviceWatch;
  readonly #runner: Runner;

  constructor(input: WireGuardInput) {
    const { options, remotes } = input;
    this.#input = input;
    const localChanged = (): void => {
      this.#remotes.localChanged();
      this.#observeAll();
    };
    this.#local = new LocalNode({ ...input, onChange: localChanged });
    const onChange = (remote: string): void => this.#enqueue(remote, performance.now());
    this.#remotes = new Remotes({ ...input, local: this.#local, onChange });
    this.#health = new DeviceHealth(input);
    this.#reconciler = new Reconciler({ ...input, local: this.#local, health: this.#health });
    this.#controller = new Controller({
      reconcile: (name, context) => this.#reconciler.reconcile(this.#remotes.get(name), context),
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      onFailure: (failure) => this.#health.retrying(failure),
    });
    this.#orphans = new Orphans({ ...input, tools: input.devices.tools, local: this.#local });
    this.#deviceWatch = new DeviceWatch({
      ...input,
      remotes: new Map(remotes.map(({ device, name }) => [device, name])),
      awaited: () => this.#health.awaited,
      retryMs: options.observePeriodMs,
      onChange: (remote) => this.#observe(remote),
    });
    this.#runner = new Runner({
      local: this.#local,
      watch: async (running) => {
        const { devices } = await prepareNode(input, { local: this.#local, orphans: this.#orphans, ...running });
        return this.#remotes.run(devices, { ...running, isRestart: input.purpose === 'run' });
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

  /** Whether all devices are set up, and each remote has synced or had its time. */
  isReady(): Health {
    const missing = this.#input.remotes.map(({ name }) => name).filter((name) => !this.#health.isSetUp(name));
    return this.#runner.isWatching && missing.length > 0
      ? { ok: false, reason: `no device yet for ${missing.join(', ')}` }
      : this.#runner.isReady();
  }

  /** Works until `signal` is aborted. Tunnels stay. @throws {ConfigError} if the config can't work on this node */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => {
      this.#observeAll();
      const observe = (): void => {
        this.#observeAll();
        void this.#orphans.check(running);
      };
      return [
        this.#controller.run(running),
        this.#deviceWatch.run(running),
        everyPeriod(this.#input.options.observePeriodMs, observe, running),
        ...this.#input.remotes.map(({ name, resyncPeriodMs }) =>
          everyPeriod(resyncPeriodMs, () => this.#observe(name), running),
        ),
      ];
    });
  }

  /** What `run` would do now. @throws {ConfigError} as `run`; Error if our own Node can't be read in time */
  plan(options: OnceOptions): Promise<Plan> {
    const {
      devices,
      remotes,
      options: { nodeName },
    } = this.#input;
    return this.#runner.once(options, async (running) => {
      const observed = await observeNode(devices.tools, running);
      const { all } = this.#remotes;
      const decisions = await Promise.all(all.map((remote) => this.#reconciler.decide(remote, running)));
      return {
        ...orphanPlan(observed, remotes),
        remotes: all.map((remote, i) => remotePlan(remote, decisions[i]!)),
        refusals: await foreseeRefusals(plannedWrites(decisions, this.#local, nodeName), options),
      };
    });
  }

  /** What `/status` says. Observes the devices and routes. */
  async servedStatus(): Promise<AppStatus> {
    const { devices, clock, localName, options } = this.#input;
    const { signal } = new AbortController();
    const observed = await Promise.all([observeNode(devices.tools, { signal }), devices.tools.routes({ signal })]).then(
      ([node, routes]) => ({ ...node, routes }),
      (error: Error) => error,
    );
    return {
      local: this.#runner.localStatus(),
      remotes: this.#remotes.all.map((remote) => servedStatus(remote, observed, clock())),
      config: { name: localName, node: options.nodeName },
    };
  }

  /** What each remote has on this node. Works without our own Node. */
  status(options: OnceOptions): Promise<Status> {
    const { devices, clock } = this.#input;
    return this.#runner.once({ ...options, needsLocal: false }, async (running) => {
      const observed = await observeNode(devices.tools, running);
      const remotes = this.#remotes.all.map((remote) => remoteStatus(remote, observed, clock()));
      return { remotes, problem: this.#local.problem };
    });
  }

  #observeAll(): void {
    for (const { name } of this.#input.remotes) this.#observe(name);
  }

  /** The device of this remote, or our own Node, may have changed. */
  #observe(remote: string): void {
    this.#reconciler.observe(remote);
    this.#enqueue(remote);
  }

  /** Until the node is prepared, no device may change. */
  #enqueue(remote: string, since?: number): void {
    if (this.#runner.isWatching) this.#controller.enqueue(remote, since);
  }
}
