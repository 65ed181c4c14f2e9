import {
  ClusterWatches,
  type DiagnosticRegister,
  LocalWrites,
  POLL_INTERVAL_MS,
  skippedIn,
} from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector, type ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Leadership } from '@kube-semaphore/leader-election';
import { limitedLog, type Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../config/options.ts';
import { clusterIdsOf, type RemoteSettings } from '../config/settings.ts';
import type { Change } from '../desired/sets/change.ts';
import { changeEvent } from '../desired/sets/change-facts.ts';
import { configuredIdentity } from '../desired/identity.ts';
import { readOwner } from '../desired/labels.ts';
import { sinkOf } from '../desired/network-policies/sinks.ts';
import type { ClusterIds } from '../desired/network-policies/cross-cluster-rules.ts';
import type { PolicyMetrics } from '../metrics.ts';
import { calicoApiOf } from './calico-api.ts';
import { LocalCompanions } from './companions.ts';
import { LocalNamespaces } from './namespaces.ts';
import { LocalNetworkPolicies, type LocalNetworkPoliciesOptions } from './network-policies.ts';
import { LocalSets, type LocalSetReflector } from './sets.ts';
import { changeSender, needsRecheck, type SendChange } from './writer.ts';

export type LocalClusterOptions = {
  readonly client: KubeClient;
  readonly leadership: Leadership;
  readonly options: PolicyOptions;
  /** The remotes in the config. */
  readonly remotes: readonly Pick<RemoteSettings, 'name' | 'clusterSetId'>[];
  readonly metrics: PolicyMetrics;
  readonly log: Logger;
  /** A set of these keys changed, or a set that has one of their names. */
  readonly onChange: (keys: readonly string[]) => void;
  readonly onPolicyChange: LocalNetworkPoliciesOptions['onChange'];
};

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/**
 * The local cluster: finds out by which API its sets are written, watches them, and writes them; with `-network-policies`
 * also its NetworkPolicies and their companions.
 */
export class LocalCluster {
  readonly what = 'the local sets';
  readonly sets: LocalSets;
  /** With `-network-policies`. */
  readonly companions: LocalCompanions | undefined;
  /** What is skipped of its NetworkPolicies and Namespaces. */
  readonly skipped: DiagnosticRegister;
  /** With `-network-policies`. */
  readonly #namespaces: LocalNamespaces | undefined;
  readonly #options: LocalClusterOptions;
  readonly #watches: ClusterWatches;
  readonly #setHooks: ReflectorHooks;
  readonly #writes: LocalWrites;
  readonly #listed = Promise.withResolvers<void>();
  /** Resolves when the sets are known. */
  readonly listed = this.#listed.promise;
  /** Undefined until the API is known. */
  #api: { readonly reflector: LocalSetReflector; readonly send: SendChange } | undefined;
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;
  #isWatchForbidden = false;
  /** By cluster. */
  readonly #orphans = { sets: new Map<string, number>(), companions: new Map<string, number>() };
  /** False if the cluster has no API of Calico. */
  #hasSets = true;

  constructor(options: LocalClusterOptions) {
    const { leadership, metrics, log, onChange } = options;
    const remotes = options.remotes.map(({ name }) => name);
    const { writeConcurrency, maxRemoteWrites } = options.options;
    this.#options = options;
    this.sets = new LocalSets({
      clusters: new Set(remotes),
      configured: configuredIdentity(options.options),
      onChange,
      onOrphans: (cluster, count) => this.#countOrphans('sets', cluster, count),
    });
    this.#writes = new LocalWrites({
      leadership,
      concurrency: writeConcurrency,
      what: 'set',
      remotes,
      objectsOf: (remote) => this.sets.ownSets(remote) + (this.companions?.policies.count(remote) ?? 0),
      perSecond: maxRemoteWrites,
      metrics,
      log,
    });
    this.#watches = new ClusterWatches({
      cluster: LOCAL,
      metrics,
      log,
      onFirstSync: this.#listed.resolve,
      onWatchForbidden: () => (this.#isWatchForbidden = true),
    });
    this.#setHooks = this.#watches.hooks();
    this.skipped = skippedIn(LOCAL, limitedLog(log, { cluster: LOCAL }), metrics.skippedObjects);
    if (!options.options.networkPolicies) return;
    const ids = clusterIdsOf(options.options, options.remotes);
    const companions = this.#companionsOf(options, ids);
    this.companions = companions;
    this.#namespaces = new LocalNamespaces({
      client: options.client,
      ids,
      idleTimeoutMs: options.options.watchIdleTimeoutMs,
      hooks: this.#watches.hooks(),
      onValues: (values) => companions.policies.setLocalValues(values),
      onDiagnostics: (name, diagnostics) => this.skipped.replace(`namespace ${name}`, diagnostics),
    });
  }

  isSynced(): boolean {
    return (this.sets.synced || !this.#hasSets) && this.companions?.synced !== false;
  }

  loops() {
    const sets = { name: this.what, silentMs: this.#api?.reflector.silentMs ?? 0 };
    if (this.companions === undefined || this.#namespaces === undefined) return [sets];
    const policies = { name: 'the local NetworkPolicies', silentMs: this.companions.silentMs };
    return [sets, policies, { name: 'the local Namespaces', silentMs: this.#namespaces.silentMs }];
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
    this.#api?.reflector.relist();
    this.companions?.relist();
  }

  /** A reconcile failed. @returns whether a write did */
  failed(failure: Parameters<LocalWrites['failed']>[0]): boolean {
    return this.#writes.failed(failure, failure.key.includes('/') ? 'companion' : undefined);
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    await Promise.all([this.#runSets(running), this.companions?.run(running), this.#namespaces?.run(running)]);
  }

  async #runSets({ signal }: RunOptions): Promise<void> {
    const { client, options, log } = this.#options;
    const onFailure = (error: unknown): void => {
      const level = this.#undiscovered === undefined ? 'warn' : 'debug';
      log[level]({ cluster: LOCAL, error }, 'API groups not listed, retrying');
      this.#undiscovered = error;
    };
    const isOptional = options.networkPolicies;
    const api = await calicoApiOf(options.calicoApi, client, { signal, onFailure, isOptional });
    if (api === undefined) {
      this.#goWithoutSets();
      return;
    }
    if (options.calicoApi === 'auto') log.info({ api }, 'Calico API chosen');
    const reflector = new Reflector({
      client,
      kind: globalNetworkSetKind(api),
      // The group projectcalico.org is served by Calico's aggregated API server.
      watchList: api === 'projectcalico.org/v3' ? 'never' : 'auto',
      project: (object) => this.sets.read(object),
      store: this.sets.store,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#setHooks,
    });
    this.#api = { reflector, send: changeSender(client, api) };
    await reflector.run({ signal });
  }

  #countOrphans(what: 'sets' | 'companions', cluster: string, count: number): void {
    const { sets, companions } = this.#orphans;
    this.#orphans[what].set(cluster, count);
    this.#options.metrics.orphans.set({ cluster }, (sets.get(cluster) ?? 0) + (companions.get(cluster) ?? 0));
  }

  #goWithoutSets(): void {
    const { log } = this.#options;
    log.info({ cluster: LOCAL }, 'the cluster has no API of Calico, so no sets are written until the next start');
    this.#hasSets = false;
    this.#setHooks.onSynced?.();
    this.#watches.drop(this.#setHooks);
  }

  /**
   * Writes one change when it is its turn, and updates the store, so that the next reconcile finds what was written.
   *
   * @throws as `LocalWrites.write`
   */
  async write(change: Change, { since }: Pick<ReconcileContext, 'since'>): Promise<void> {
    if (this.#api === undefined) throw new Error('the API of the local sets is not known');
    const { reflector, send } = this.#api;
    const isDeletion = change.kind === 'delete';
    const remote = readOwner((isDeletion ? change.from : change.to).labels, this.sets.domains)?.cluster;
    const write = { payer: remote, isDeletion, since, remote, repairs: remote, event: () => changeEvent(change) };
    try {
      const written = await this.#writes.write(write, (options) => send(change, options));
      if (written !== undefined) reflector.wrote(written);
      else if (isDeletion) this.sets.store.delete(change.from.name, change.from.uid);
    } catch (error) {
      if (needsRecheck(error, change, this.#isWatchForbidden)) reflector.recheck();
      throw error;
    }
  }

  #companionsOf(
    { client, options, remotes, metrics, onPolicyChange }: LocalClusterOptions,
    ids: ClusterIds,
  ): LocalCompanions {
    return new LocalCompanions({
      client,
      policies: new LocalNetworkPolicies({
        ids,
        clusters: new Set(remotes.map(({ name }) => name)),
        onChange: onPolicyChange,
        onCount: (remote, { companions, addresses, behind }) => {
          metrics.companions.set({ remote }, companions);
          metrics.companionAddresses.set({ remote }, addresses);
          metrics.companionsBehind.set({ remote }, behind);
        },
        onOrphans: (cluster, count) => this.#countOrphans('companions', cluster, count),
        onUnknownClusters: (count) => metrics.unknownClusters.set({}, count),
        onDiagnostics: (key, diagnostics) => this.skipped.replace(`NetworkPolicy ${key}`, diagnostics),
      }),
      writes: this.#writes,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      sink: sinkOf(options),
      hooks: () => this.#watches.hooks(),
      isWatchForbidden: () => this.#isWatchForbidden,
    });
  }
}
