import { type AppStatus, everyPeriod, foreseeRefusals, LeaderController, Runner } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Health, Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from './config/options.ts';
import type { Settings } from './config/settings.ts';
import type { HostNetworkPods } from './sets/desired/host-network.ts';
import { LocalCluster } from './local/cluster.ts';
import type { PolicyMetrics } from './metrics.ts';
import { NetworkPolicies } from './companions/network-policies.ts';
import type { Plan } from './plan.ts';
import { SetReconciler } from './sets/reconciler.ts';
import { Remotes } from './sets/remote/remotes.ts';

export type PolicyInput = {
  readonly options: PolicyOptions;
  readonly settings: Settings;
  readonly hostNetworkPods: HostNetworkPods;
  /** Of the local cluster. */
  readonly local: KubeClient;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly KubeClient[];
  /** Whether this replica may write. */
  readonly leadership: Leadership;
  readonly log: Logger;
  readonly metrics: PolicyMetrics;
};

/**
 * The whole app: keeps the local sets of its remote clusters, and the companions of NetworkPolicies. It lists the local side
 * first, as the labels of sets decide which Pods to watch; then the remotes; then it reconciles, key by key.
 */
export class Policy {
  readonly #input: PolicyInput;
  readonly #local: LocalCluster;
  readonly #remotes: Remotes;
  readonly #sets: SetReconciler;
  /** With `-network-policies`. */
  readonly #networkPolicies: NetworkPolicies | undefined;
  readonly #controller: LeaderController;
  readonly #runner: Runner;
  /** A plan chooses label domains as the leader would. */
  #isPlan = false;

  constructor(input: PolicyInput) {
    const { options, settings, hostNetworkPods, local: client, leadership, metrics, log } = input;
    this.#input = input;
    this.#local = new LocalCluster({
      client,
      leadership,
      options,
      remotes: settings.remotes,
      metrics,
      log,
      // Not a remote event: a repair counts in `repairs_total`, not in `propagation_seconds`.
      onChange: (keys) => {
        this.#remotes.settle();
        this.#enqueue(keys);
      },
      onPolicyChange: (key, event) => this.#networkPolicies?.changed(key, event),
    });
    this.#remotes = new Remotes({
      ...input,
      localSets: this.#local.sets,
      mayChoose: () => this.#isPlan || leadership.isLeader,
      onChange: (keys) => this.#enqueue(keys, performance.now()),
      onKnown: () => this.#enqueue(this.#sets.keys(), performance.now()),
    });
    this.#sets = new SetReconciler({ local: this.#local, remotes: this.#remotes, options, hostNetworkPods });
    const { companions } = this.#local;
    this.#networkPolicies =
      companions &&
      new NetworkPolicies({
        options,
        metrics,
        local: companions,
        remotes: () => this.#remotes.inputs().map((remote) => ({ ...remote, options })),
        enqueue: (...event) => this.#controller.enqueue(...event),
      });
    this.#controller = new LeaderController({
      leadership,
      options,
      metrics,
      // A key of a NetworkPolicy has a slash; a key of sets has none.
      reconcile: (key, context) => ((key.includes('/') && this.#networkPolicies) || this.#sets).reconcile(key, context),
      onFailure: (failure) => {
        if (this.#local.failed(failure)) metrics.requeues.inc({});
      },
      onStartedLeading: () => {
        this.#remotes.settle();
        this.#enqueueAll(performance.now());
      },
    });
    this.#runner = new Runner({
      local: this.#local,
      prepare: (running) => this.#remotes.prepare(running),
      watch: async (running) => [...this.#remotes.run(running), ...(this.#networkPolicies?.run(running) ?? [])],
      remotes: () => [...this.#remotes.all, ...(this.#networkPolicies?.remotes ?? [])],
      watched: 'pods',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  isLive(): Health {
    return this.#runner.isLive();
  }

  isReady(): Health {
    return this.#runner.isReady();
  }

  status(): AppStatus {
    const { leadership, settings, options } = this.#input;
    const { localClusterName: name, networkPolicies, networkPolicySink, clusterSetKey } = options;
    const { remotePodSelector = null, maxAddressesPerPolicy, maxAddressesPerSource } = options;
    return {
      leader: leadership.isLeader,
      local: this.#runner.localStatus(),
      remotes: this.#remotes.status(),
      config: {
        name,
        networkPolicies,
        networkPolicySink,
        clusterSetKey,
        remotePodSelector,
        maxAddressesPerPolicy,
        maxAddressesPerSource,
        localCIDRs: settings.localCidrs.map(({ text }) => text),
      },
    };
  }

  /**
   * Works until `signal` is aborted.
   *
   * @throws {ConfigError} when the local sets of a remote have more than one identity, and no flag chooses one
   */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      ...this.#remotes.all.map((remote) =>
        everyPeriod(remote.resyncPeriodMs, () => this.#enqueue(remote.keys()), running),
      ),
      everyPeriod(this.#input.options.fullStoreResyncPeriodMs, () => this.#compareAll(), running),
    ]);
  }

  /**
   * What `run` would write now, without writing it: the same informers and the same reconcile.
   *
   * @throws {ConfigError} as `run`; Error when the local sets can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    this.#isPlan = true;
    return this.#runner.once(options, async () => {
      const sets = {
        changes: this.#sets.changes(),
        skipped: this.#local.skipped.all(),
        remotes: this.#remotes.all.map((remote) => remote.plan()),
      };
      const plan = this.#networkPolicies?.extendPlan(sets) ?? { ...sets, companionChanges: [], openRules: [] };
      const writes = [
        ...this.#local.plannedWrites(plan.changes),
        ...(this.#local.companions?.plannedWrites(plan.companionChanges) ?? []),
      ];
      return { ...plan, refusals: await foreseeRefusals(writes, options) };
    });
  }

  #compareAll(): void {
    this.#local.relist();
    this.#remotes.reportFirstRelease();
    this.#enqueueAll();
  }

  #enqueueAll(since?: number): void {
    this.#enqueue(this.#sets.keys(), since);
    this.#controller.enqueue(this.#networkPolicies?.keys() ?? [], since);
  }

  #enqueue(keys: Iterable<string>, since?: number): void {
    // While no remote is known, there is nothing to decide. A remote that becomes known enqueues every key.
    if (this.#remotes.all.some(({ synced }) => synced)) this.#controller.enqueue(keys, since);
  }
}
