import { once } from 'node:events';
import {
  ClusterWatches,
  type DiagnosticRegister,
  LocalWrites,
  type PlannedWrite,
  POLL_INTERVAL_MS,
  type Remotes,
  skippedIn,
  untilAnswered,
} from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector, type ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Leadership } from '@kube-semaphore/leader-election';
import { limitedLog, type Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../config/options.ts';
import { clusterIdsOf, type RemoteSettings } from '../config/settings.ts';
import type { Change } from '../sets/desired/change.ts';
import { changeEvent, objectOf } from '../sets/desired/change-facts.ts';
import { configuredIdentity } from '../sets/desired/identity.ts';
import { readOwner } from '../sets/desired/labels.ts';
import { type ClusterIds, notExtended, otherSinksOf, sinkOf } from '@kube-semaphore/network-policies';
import type { PolicyMetrics } from '../metrics.ts';
import { askingGroupsOnce } from './api-groups.ts';
import { calicoApiOf } from './calico-api.ts';
import { ObjectCounts } from './object-counts.ts';
import { listClusterPolicies } from '../companions/local/cluster-policies.ts';
import { LocalCompanions } from '../companions/local/companions.ts';
import { LocalNamespaces } from '../companions/local/namespaces.ts';
import { LocalNetworkPolicies, type LocalNetworkPoliciesOptions } from '../companions/local/network-policies.ts';
import { readableSinks, resourceNames } from '../companions/local/other-sinks.ts';
import { LocalSets, type LocalSetReflector } from '../sets/local/sets.ts';
import { changeSender, needsRecheck, type SendChange } from '../sets/local/writer.ts';

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

type Discovery = Parameters<typeof readableSinks>[1];

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
  /** Until it is known what other sinks left, and which policies aren't extended. */
  readonly #startHooks: ReflectorHooks | undefined;
  readonly #writes: LocalWrites;
  readonly #listed = Promise.withResolvers<void>();
  /** Resolves when the sets are known. */
  readonly listed = this.#listed.promise;
  /** Undefined until the API is known. */
  #api: { readonly reflector: LocalSetReflector; readonly send: SendChange } | undefined;
  #running: RunOptions | undefined;
  #notExtended: readonly string[] = [];
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;
  #isWatchForbidden = false;
  readonly #counts: ObjectCounts;
  /** False if the cluster has no API of Calico. */
  #hasSets = true;

  constructor(options: LocalClusterOptions) {
    const { leadership, metrics, log, onChange } = options;
    const { writeConcurrency, maxRemoteWrites } = options.options;
    this.#options = options;
    this.#counts = new ObjectCounts(options);
    this.sets = new LocalSets({ configured: configuredIdentity(options.options), counts: this.#counts, onChange });
    this.#writes = new LocalWrites({
      leadership,
      concurrency: writeConcurrency,
      what: 'set',
      objectsOf: (remote) => this.#counts.of(remote),
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
    const ids = this.#clusterIds;
    const policies = new LocalNetworkPolicies({
      ...options,
      ids,
      sink: sinkOf(options.options),
      counts: this.#counts,
      skipped: this.skipped,
      onChange: options.onPolicyChange,
    });
    this.companions = this.#companionsOf(policies);
    this.#startHooks = this.#watches.hooks();
    this.#namespaces = new LocalNamespaces({
      client: options.client,
      ids,
      idleTimeoutMs: options.options.watchIdleTimeoutMs,
      hooks: this.#watches.hooks(),
      policies,
      skipped: this.skipped,
    });
  }

  /** The config has a remote, until `signal` is aborted: its writes have a budget, and metrics. */
  async follow(remote: string, { signal }: RunOptions): Promise<void> {
    this.#writes.begin(remote);
    if (!signal.aborted) await once(signal, 'abort');
    this.#writes.end(remote);
  }

  /** Decides again which objects are orphans, and which clusters NetworkPolicies and Namespaces name. */
  configChanged(): void {
    const ids = this.#clusterIds;
    this.#counts.report();
    this.companions?.policies.configChanged(ids);
    this.#namespaces?.configChanged(ids);
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
    if (this.#running !== undefined) void this.#checkClusterPolicies(this.#running);
  }

  /** A set wasn't written, or its reconcile failed. */
  failed(failure: Parameters<LocalWrites['failed']>[0]): void {
    this.#writes.failed(failure);
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    const discovery = askingGroupsOnce(this.#options.client);
    const api = this.#chooseApi(discovery, running);
    await Promise.all([
      this.#runSets(api, running),
      this.companions?.run(running),
      this.#runOtherSinks(api, discovery, running),
      this.#namespaces?.run(running),
    ]);
  }

  #chooseApi(discovery: Discovery, { signal }: RunOptions): Promise<CalicoApi | undefined> {
    const { options, log } = this.#options;
    const onFailure = (error: unknown): void => {
      const level = this.#undiscovered === undefined ? 'warn' : 'debug';
      log[level]({ cluster: LOCAL, error }, 'API groups not listed, retrying');
      this.#undiscovered = error;
    };
    return calicoApiOf(options.calicoApi, discovery, { signal, onFailure, isOptional: options.networkPolicies });
  }

  async #runSets(choice: Promise<CalicoApi | undefined>, { signal }: RunOptions): Promise<void> {
    const { client, options, log } = this.#options;
    const api = await choice;
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

  /** Watches what a sink wrote that was chosen before, if we still may. */
  async #runOtherSinks(
    choice: Promise<CalicoApi | undefined>,
    discovery: Discovery,
    { signal }: RunOptions,
  ): Promise<void> {
    const { companions } = this;
    if (companions === undefined) return;
    this.#running = { signal };
    const { options, log } = this.#options;
    const all = otherSinksOf(options.networkPolicySink, await choice);
    const onFailure = (error: unknown): void => log.debug({ cluster: LOCAL, error }, 'other sinks not found, retrying');
    const ask = () => readableSinks(all, discovery, { signal });
    const { readable, forbidden } = await untilAnswered(ask, { signal, onFailure });
    for (const sink of forbidden)
      log.info({ cluster: LOCAL, resources: resourceNames(sink) }, 'companions of another sink are not looked for');
    await this.#checkClusterPolicies({ signal }, discovery);
    const watches = readable.map((sink) => companions.replace(sink, { signal }));
    const hooks = this.#startHooks!;
    hooks.onSynced?.();
    this.#watches.drop(hooks);
    await Promise.all(watches);
  }

  /** What names other clusters, and isn't extended. */
  async #checkClusterPolicies({ signal }: RunOptions, discovery?: Discovery): Promise<void> {
    const { client, options, log } = this.#options;
    try {
      const found = notExtended(await listClusterPolicies(client, { signal }, discovery), options.clusterSetKey);
      const bySubject = Map.groupBy(found, ({ subject }) => subject);
      for (const subject of new Set([...this.#notExtended, ...bySubject.keys()]))
        this.skipped.replace(subject, bySubject.get(subject) ?? []);
      this.#notExtended = [...bySubject.keys()];
    } catch (error) {
      if (!signal.aborted) log.info({ cluster: LOCAL, error }, 'ClusterNetworkPolicies not read');
    }
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

  /** What a plan asks the API server: nothing about deletions. */
  plannedWrites(changes: readonly Change[]): readonly PlannedWrite[] {
    const { send } = this.#api ?? {};
    if (send === undefined) return [];
    return changes
      .filter(({ kind }) => kind !== 'delete')
      .map((change) => ({ object: objectOf(change), send: (options) => send(change, options) }));
  }

  #companionsOf(policies: LocalNetworkPolicies): LocalCompanions {
    const { client, options } = this.#options;
    return new LocalCompanions({
      client,
      policies,
      writes: this.#writes,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      sink: sinkOf(options),
      hooks: () => this.#watches.hooks(),
      isWatchForbidden: () => this.#isWatchForbidden,
    });
  }

  get #clusterIds(): ClusterIds {
    const { options, remotes } = this.#options;
    const settings = remotes.all.map((remote) => remote.settings);
    return clusterIdsOf(options, settings);
  }
}
