import { once } from 'node:events';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import {
  type AppStatus,
  everyPeriod,
  foreseeRefusals,
  type Inventory,
  Leader,
  localServiceRanges,
  type Remote,
  remoteBudget,
  type RemoteChanges,
  type Remotes,
  Runner,
} from '@kube-semaphore/multicluster';
import type { Cidr } from '@kube-semaphore/net';
import type { Health, Logger } from '@kube-semaphore/runtime';
import { NetworkPolicies } from './companions/network-policies.ts';
import type { PolicyOptions } from './config/options.ts';
import type { RemoteSettings } from './config/settings.ts';
import { LocalCluster } from './local/cluster.ts';
import type { PolicyMetrics } from './metrics.ts';
import type { Plan } from './plan.ts';
import type { HostNetworkPods } from './sets/desired/host-network.ts';
import { Sets } from './sets/sets.ts';

export type PolicyInput = {
  readonly options: PolicyOptions;
  /** Of the local cluster: no remote can bring in an address in them. */
  readonly localCidrs: readonly Cidr[];
  readonly hostNetworkPods: HostNetworkPods;
  /** Of the local cluster. */
  readonly client: KubeClient;
  readonly remotes: Remotes<RemoteSettings>;
  /** Has remotes besides; undefined: the config names none. */
  readonly inventory?: Inventory | undefined;
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
  readonly #leader: Leader;
  readonly #local: LocalCluster;
  readonly #sets: Sets;
  /** With `-network-policies`. */
  readonly #networkPolicies: NetworkPolicies | undefined;
  readonly #runner: Runner;
  /** Of the local cluster, once it is read. */
  #serviceRanges: readonly Cidr[] = [];
  /** A plan chooses label domains as the leader would. */
  #isPlan = false;

  constructor(input: PolicyInput) {
    const { options, leadership, client, log } = input;
    this.#input = input;
    const leader = new Leader(input);
    this.#leader = leader;
    this.#local = new LocalCluster({
      ...input,
      // Not a remote event: a repair counts in `repairs_total`, not in `propagation_seconds`.
      onChange: (keys) => {
        this.#sets.settle();
        this.#sets.enqueue(keys);
      },
      onPolicyChange: (key, event) => this.#networkPolicies?.changed(key, event),
    });
    const mayChoose = (): boolean => this.#isPlan || leadership.isLeader;
    this.#sets = new Sets({ ...input, local: this.#local.sets, leader, mayChoose });
    const { policies } = this.#local;
    this.#networkPolicies = policies && new NetworkPolicies({ ...input, local: policies.companions, leader });
    this.#runner = new Runner({
      local: this.#local,
      prepare: async (running) => {
        [this.#serviceRanges] = await Promise.all([
          localServiceRanges(client, { ...running, log }),
          input.inventory?.applied,
        ]);
      },
      watch: (running) => Promise.resolve([this.#watch(running)]),
      remotes: () => [...this.#sets.followed, ...(this.#networkPolicies?.remotes ?? [])],
      watched: 'pods',
      longestReconcileMs: () => leader.longestRunningMs,
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
    const { leadership, localCidrs, options } = this.#input;
    const { localClusterName: name, networkPolicies, networkPolicySink, clusterSetKey } = options;
    const { remotePodSelector = null, maxAddressesPerPolicy, maxAddressesPerSource } = options;
    return {
      leader: leadership.isLeader,
      local: this.#runner.localStatus(),
      remotes: this.#sets.status(),
      config: {
        name,
        networkPolicies,
        networkPolicySink,
        clusterSetKey,
        remotePodSelector,
        maxAddressesPerPolicy,
        maxAddressesPerSource,
        localCIDRs: localCidrs.map(({ text }) => text),
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
      this.#leader.run(running),
      this.#whenSetsComeLate(running),
      everyPeriod(this.#input.options.fullStoreResyncPeriodMs, () => this.#compareAll(), running),
    ]);
  }

  /**
   * Takes over the remotes of a changed config.
   *
   * @throws {ConfigError} as `run`, or if there is no way to connect to one; then all stays as it was
   */
  async replaceRemotes(next: readonly RemoteSettings[]): Promise<RemoteChanges> {
    this.#sets.check(next);
    return this.#change((remotes) => remotes.replace(next));
  }

  async #change(change: (remotes: Remotes<RemoteSettings>) => Promise<RemoteChanges>): Promise<RemoteChanges> {
    // What waits for a remote that goes must not wait any more.
    const [sets, policies] = [this.#sets.keys(), this.#networkPolicies?.keys()];
    const changes = await change(this.#input.remotes);
    this.#local.configChanged();
    this.#sets.enqueue([...sets, ...this.#sets.keys()], performance.now());
    this.#networkPolicies?.enqueueAll(performance.now(), policies);
    return changes;
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
        remotes: this.#sets.plans(),
      };
      const plan = this.#networkPolicies?.extendPlan(sets) ?? { ...sets, companionChanges: [], openRules: [] };
      const writes = [
        ...this.#local.sets.plannedWrites(plan.changes),
        ...(this.#local.policies?.companions.plannedWrites(plan.companionChanges) ?? []),
      ];
      return { ...plan, refusals: await foreseeRefusals(writes, options) };
    });
  }

  /** @throws {ConfigError} as `run` */
  #watch(running: RunOptions): Promise<void> {
    const { remotes } = this.#input;
    this.#sets.check(remotes.all.map(({ settings }) => settings));
    const watching = remotes.run((remote, run) => this.#follow(remote, run), running);
    this.#networkPolicies?.enqueueAll(performance.now());
    return watching;
  }

  /** Everything about a remote, while the config has it. */
  async #follow(remote: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    const { options, localCidrs } = this.#input;
    const { name, families, allowedPodCidrs: allowed } = remote.settings;
    const addresses = { families, allowed, local: localCidrs, services: this.#serviceRanges };
    const followed = { ...remote, addresses, budget: remoteBudget(options) };
    await Promise.all([
      this.#local.follow(name, running),
      this.#sets.follow(followed, running),
      this.#networkPolicies?.follow(followed, running),
    ]);
  }

  /** What follows a remote trusts the local sets, and the guard measures its first list by them: it begins again with them. */
  async #whenSetsComeLate({ signal }: RunOptions): Promise<void> {
    if (!signal.aborted) await Promise.race([this.#local.sets.cameLate, once(signal, 'abort')]);
    if (signal.aborted) return;
    this.#input.log.info({}, 'the local sets are known now; remotes are followed again');
    await this.#change((remotes) => remotes.restart());
  }

  #compareAll(): void {
    this.#local.relist();
    this.#sets.reportFirstRelease();
    this.#sets.enqueue(this.#sets.keys());
    this.#networkPolicies?.enqueueAll();
  }
}
