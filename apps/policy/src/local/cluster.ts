import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ClusterWatches,
  type DiagnosticRegister,
  LocalWrites,
  type Remotes,
  skippedIn,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { CalicoApi } from '@kube-semaphore/kube-objects';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { ClusterIds } from '@kube-semaphore/network-policies';
import { limitedLog, type Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../config/options.ts';
import { clusterIdsOf, type RemoteSettings } from '../config/settings.ts';
import type { LocalNetworkPoliciesOptions } from '../companions/local/network-policies.ts';
import { WatchedPolicies } from '../companions/local/watched-policies.ts';
import type { PolicyMetrics } from '../metrics.ts';
import { LOCAL } from '../names.ts';
import { WatchedSets } from '../sets/local/watched-sets.ts';
import { askingGroupsOnce } from './api-groups.ts';
import { calicoApiOf } from './calico-api.ts';
import { ObjectCounts } from './object-counts.ts';

export type LocalClusterOptions = {
  readonly client: KubeClient;
  readonly leadership: Leadership;
  readonly options: PolicyOptions;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all' | 'byName'>;
  readonly metrics: PolicyMetrics;
  readonly log: Logger;
  /** A set of these keys changed, or a set that has one of their names. */
  readonly onChange: (keys: readonly string[]) => void;
  readonly onPolicyChange: LocalNetworkPoliciesOptions['onChange'];
};

/** The local cluster: what each feature watches and writes there, and what they share: connection, budgets, counts. */
export class LocalCluster {
  readonly what = 'the local sets';
  readonly sets: WatchedSets;
  /** With `-network-policies`. */
  readonly policies: WatchedPolicies | undefined;
  /** What is skipped of its NetworkPolicies and Namespaces. */
  readonly skipped: DiagnosticRegister;
  readonly #options: LocalClusterOptions;
  readonly #watches: ClusterWatches;
  readonly #writes: LocalWrites;
  readonly #counts: ObjectCounts;
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;

  constructor(options: LocalClusterOptions) {
    const { options: flags, metrics } = options;
    this.#options = options;
    this.#counts = new ObjectCounts(options);
    this.#writes = new LocalWrites({
      ...options,
      concurrency: flags.writeConcurrency,
      what: 'set',
      objectsOf: (remote) => this.#counts.of(remote),
      perSecond: flags.maxRemoteWrites,
    });
    this.#watches = new ClusterWatches({ ...options, cluster: LOCAL });
    this.skipped = skippedIn(LOCAL, limitedLog(options.log, { cluster: LOCAL }), metrics.skippedObjects);
    const shared = { ...options, counts: this.#counts, watches: this.#watches, writes: this.#writes };
    this.sets = new WatchedSets(shared);
    if (!flags.networkPolicies) return;
    const { onPolicyChange: onChange } = options;
    this.policies = new WatchedPolicies({ ...shared, ids: this.#clusterIds, skipped: this.skipped, onChange });
  }

  /** Resolves when the sets are known. */
  get listed(): Promise<void> {
    return this.#watches.firstSync;
  }

  /** The config has a remote, until `signal` is aborted: its writes have a budget, and metrics. */
  async follow(remote: string, { signal }: RunOptions): Promise<void> {
    this.#writes.begin(remote);
    if (!signal.aborted) await once(signal, 'abort');
    this.#writes.end(remote);
  }

  /** Decides again which objects are orphans, and which clusters NetworkPolicies and Namespaces name. */
  configChanged(): void {
    this.#counts.report();
    this.policies?.configChanged(this.#clusterIds);
  }

  isSynced(): boolean {
    return this.sets.synced && this.policies?.companions.synced !== false;
  }

  loops() {
    return [{ name: this.what, silentMs: this.sets.silentMs }, ...(this.policies?.loops() ?? [])];
  }

  /** Why the sets aren't known yet. */
  failure(): unknown {
    return this.#watches.failure ?? this.#undiscovered;
  }

  connection() {
    return this.#watches.status();
  }

  /** Lists everything again, to compare. */
  relist(): void {
    this.sets.relist();
    this.policies?.relist();
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    const discovery = askingGroupsOnce(this.#options.client);
    const api = this.#chooseApi(discovery, running);
    await Promise.all([this.#runSets(api, running), this.policies?.run(api, discovery, running)]);
  }

  async #runSets(choice: Promise<CalicoApi | undefined>, running: RunOptions): Promise<void> {
    const { options, log } = this.#options;
    const api = await choice;
    if (api === undefined) {
      log.info({ cluster: LOCAL }, 'the cluster has no API of Calico, so no sets are written until it has one');
      this.sets.missing();
      await this.#runLateSets(running);
      return;
    }
    if (options.calicoApi === 'auto') log.info({ api }, 'Calico API chosen');
    await this.sets.run(api, running);
  }

  /**
   * Asks until the cluster has an API of Calico: soon, as an API server that has just started names the groups of CRDs a moment
   * later, and in the end once a minute.
   */
  async #runLateSets(running: RunOptions): Promise<void> {
    const { client, log } = this.#options;
    const { signal } = running;
    for (let waitMs = 1000; ; waitMs = Math.min(2 * waitMs, 60_000)) {
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const api = await this.#chooseApi(client, running).catch(unlessAborted(signal));
      if (api === undefined) continue;
      log.info({ api }, 'Calico API chosen');
      const others = this.policies?.calicoCameLate(api, running).catch(unlessAborted(signal));
      await Promise.all([this.sets.run(api, running), others]);
      return;
    }
  }

  #chooseApi(discovery: Pick<KubeClient, 'getRaw'>, { signal }: RunOptions): Promise<CalicoApi | undefined> {
    const { options, log } = this.#options;
    const onFailure = (error: unknown): void => {
      const level = this.#undiscovered === undefined ? 'warn' : 'debug';
      log[level]({ cluster: LOCAL, error }, 'API groups not listed, retrying');
      this.#undiscovered = error;
    };
    return calicoApiOf(options.calicoApi, discovery, { signal, onFailure, isOptional: options.networkPolicies });
  }

  get #clusterIds(): ClusterIds {
    const { options, remotes } = this.#options;
    return clusterIdsOf(
      options,
      remotes.all.map(({ settings }) => settings),
    );
  }
}

/** A plan ends before the cluster has Calico, and that is no error. */
const unlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): undefined => {
    if (!signal.aborted) throw error;
  };
