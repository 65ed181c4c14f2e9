import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ClusterWatches,
  everyPeriod,
  liveness,
  POLL_INTERVAL_MS,
  readiness,
  RemoteWrites,
  RemoteWritesError,
  WriteLog,
} from '@kube-semaphore/app';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller, Limiter, type ReconcileContext } from '@kube-semaphore/controller';
import { type Leadership, NotLeadingError } from '@kube-semaphore/leader-election';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import type { CalicoApi } from '@kube-semaphore/kube-objects';
import type { Cidr } from '@kube-semaphore/net';
import type { Given } from '@kube-semaphore/options';
import type { Health, Instruments, Logger } from '@kube-semaphore/runtime';
import { configuredIdentity } from './desired/identity.ts';
import { discoverCalicoApi } from './local/calico-api.ts';
import type { Change } from './desired/change.ts';
import { changeEvent } from './desired/change-facts.ts';
import { LocalSets } from './local/sets.ts';
import type { metrics } from './metrics.ts';
import type { PolicyOptions } from './config/options.ts';
import type { Plan } from './plan.ts';
import { Remote } from './remote/cluster.ts';
import { domainsWith, readOwner } from './desired/labels.ts';
import { SetReconciler } from './reconciler.ts';
import { setWriter, type WriteSet, type Written } from './local/writer.ts';
import type { RemoteSettings } from './config/settings.ts';

export type PolicyInput = {
  readonly options: PolicyOptions;
  readonly given: Given<PolicyOptions>;
  readonly local: Connection;
  /** Of the local cluster: no remote may bring in an address in them. */
  readonly localCidrs: readonly Cidr[];
  readonly remotes: readonly { readonly settings: RemoteSettings; readonly connection: Connection }[];
  readonly log: Logger;
  readonly metrics: Instruments<typeof metrics>;
  /** Whether we may write, among all replicas; made from the client of the local cluster. */
  readonly leadership: (local: KubeClient) => Leadership;
  /** `name/version`, for the API servers' logs. */
  readonly userAgent: string;
};

/** What is there once all clusters are being watched; `loops` are awaited in the end. */
type OpenClusters = { readonly localSets: LocalSets; readonly loops: Promise<void>[]; readonly signal: AbortSignal };

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/**
 * The whole app: keeps the local sets of its remote clusters. First it lists the local sets, for they say under which
 * labels to go on; then the remotes' Pods, for which that decides which to watch; then it reconciles, key by key.
 */
export class Policy {
  readonly #input: PolicyInput;
  readonly #domains: readonly string[];
  readonly #client: KubeClient;
  readonly #leadership: Leadership;
  readonly #controller: Controller;
  readonly #limiter: Limiter;
  readonly #writeLog: WriteLog;
  readonly #remoteWrites: RemoteWrites;
  #localSets: LocalSets | undefined;
  #localWatches: ClusterWatches | undefined;
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;
  #remotes: readonly Remote[] = [];
  #reconciler: SetReconciler | undefined;
  #watchingSince: number | undefined;
  #watchForbidden = false;
  /** A plan chooses as the leader would. */
  #plans = false;
  readonly #localListed = Promise.withResolvers<void>();

  constructor(input: PolicyInput) {
    const { options, metrics, log } = input;
    this.#input = input;
    this.#client = this.#localClient();
    this.#leadership = input.leadership(this.#client);
    this.#domains = domainsWith(configuredIdentity(options).domain);
    this.#writeLog = new WriteLog({ log, what: 'set', onTrouble: (inTrouble) => metrics.remoteUp.set({ remote: LOCAL }, inTrouble ? 0 : 1) });
    this.#remoteWrites = new RemoteWrites({
      remotes: input.remotes.map(({ settings }) => settings.name),
      objectsOf: (remote) => this.#localSets?.ownSets(remote) ?? 0,
      perSecond: options.maxRemoteWrites,
      metrics,
      log,
    });
    this.#limiter = new Limiter(options.writeConcurrency);
    this.#controller = new Controller({
      // A standby decides nothing: its stores are warm, and every key is looked at when it takes over.
      reconcile: async (key, context) =>
        this.#leadership.isLeader && this.#reconciler !== undefined ? this.#reconciler.reconcile(key, context) : { wrote: false },
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      onFailure: (failure) => {
        if (failure.error instanceof NotLeadingError || failure.error instanceof RemoteWritesError) return;
        metrics.requeues.inc({});
        this.#writeLog.failed(failure);
      },
    });
  }

  /** Whether the loops turn. */
  isLive(): Health {
    const loops = [
      { name: 'local sets', silentMs: this.#localSets?.reflector.silentMs ?? 0 },
      ...this.#remotes.map(({ cluster, silentMs }) => ({ name: `the pods of ${cluster}`, silentMs })),
    ];
    const { watchIdleTimeoutMs } = this.#input.options;
    return liveness({ loops, longestReconcileMs: this.#controller.longestRunningMs, idleTimeoutMs: watchIdleTimeoutMs });
  }

  /** Whether the local side stands, and each remote has synced or had its time. */
  isReady(): Health {
    return readiness({
      localSynced: this.#localSets?.synced === true,
      remotes: this.#remotes.map(({ cluster, synced }) => ({ name: cluster, synced })),
      watchedMs: this.#watchingSince === undefined ? undefined : performance.now() - this.#watchingSince,
    });
  }

  /**
   * Works until `signal` is aborted.
   *
   * @throws {ConfigError} when the local sets carry more than one identity, and no flag says which
   */
  run({ signal }: RunOptions): Promise<void> {
    return this.#withClusters(signal, async ({ localSets, loops, ...options }) => {
      const { fullStoreResyncPeriodMs } = this.#input.options;
      loops.push(
        this.#controller.run(options),
        this.#leadership.run({
          ...options,
          onStartedLeading: () => {
            this.#settleRemotes();
            this.#enqueueAll(performance.now());
          },
          // Its writes are refused from then on, and the next term begins with a look at everything.
          onStoppedLeading: () => undefined,
        }),
        ...this.#remotes.map((remote) => everyPeriod(remote.resyncPeriodMs, () => this.#enqueue(remote.keys()), options)),
        everyPeriod(fullStoreResyncPeriodMs, () => this.#compareAll(localSets), options),
      );
      await Promise.all(loops);
    });
  }

  /**
   * What `run` would write now, without writing it: the same informers and the same reconcile.
   *
   * @param timeoutMs how long to wait for the first list of the local sets, and then for those of all remotes
   * @throws {ConfigError} as `run`; Error when the local sets can't be listed in time
   */
  async plan({ signal, timeoutMs }: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    this.#plans = true;
    const plans: Plan[] = [];
    const gaveUp = new AbortController();
    const timer = setTimeout(() => gaveUp.abort(new Error(`the local sets couldn't be listed within ${timeoutMs} ms`, { cause: this.#localWatches?.failure ?? this.#undiscovered })), timeoutMs);
    await this.#withClusters(AbortSignal.any([signal, gaveUp.signal]), async ({ localSets, signal: whileRunning }) => {
      clearTimeout(timer);
      const patience = delay(timeoutMs, undefined, { signal: whileRunning, ref: false });
      await Promise.race([Promise.all(this.#remotes.map(({ firstSync }) => firstSync)), patience]);
      const keys = new Set([...localSets.keys(), ...this.#remotes.flatMap((remote) => remote.keys())]);
      const changes = [...keys].toSorted().flatMap((key) => this.#reconciler!.plan(key).flat());
      plans.push({ changes, remotes: this.#remotes.map((remote) => remote.plan()) });
    }).finally(() => clearTimeout(timer));
    return plans[0]!;
  }

  /** Opens the local sets and then the remotes, calls `work`, and in the end stops everything. */
  async #withClusters(stopped: AbortSignal, work: (clusters: OpenClusters) => Promise<void>): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([stopped, ended.signal]);
    // Every request listens to it for as long as it runs.
    setMaxListeners(0, signal);
    const loops: Promise<void>[] = [];
    try {
      const client = this.#client;
      const api = await this.#calicoApi(client, signal);
      const localSets = this.#openLocalSets(client, api);
      loops.push(localSets.reflector.run({ signal }));
      await Promise.race([this.#localListed.promise, ...loops]);
      signal.throwIfAborted();
      this.#remotes = this.#openRemotes(localSets);
      this.#noticeOlderSets();
      this.#reconciler = this.#newReconciler(localSets, setWriter(client, api));
      this.#watchingSince = performance.now();
      loops.push(...this.#remotes.map((remote) => remote.run({ signal })));
      await work({ localSets, loops, signal });
    } finally {
      ended.abort();
      await Promise.all(loops);
    }
  }

  #localClient(): KubeClient {
    const { local, userAgent, metrics } = this.#input;
    const onRequest = ({ verb, resource, code }: RequestReport): void => {
      if (resource !== 'globalnetworksets' || verb === 'get') return;
      metrics.calicoRequests.inc({ type: verb, success: code.startsWith('2') ? '1' : '0' });
    };
    return new KubeClient({ connection: local, userAgent, onRequest });
  }

  async #calicoApi(client: KubeClient, signal: AbortSignal): Promise<CalicoApi> {
    const { options, log } = this.#input;
    if (options.calicoApi !== 'auto') return options.calicoApi;
    let said = false;
    const api = await discoverCalicoApi(client, {
      signal,
      onFailure: (error) => {
        this.#undiscovered = error;
        log[said ? 'debug' : 'warn']({ cluster: LOCAL, error }, 'API groups not listed, will try again');
        said = true;
      },
    });
    log.info({ api }, 'Calico API chosen');
    return api;
  }

  #openLocalSets(client: KubeClient, api: CalicoApi): LocalSets {
    const { options, remotes, log, metrics } = this.#input;
    const { resolve: onFirstSync } = this.#localListed;
    this.#localWatches = new ClusterWatches({ cluster: LOCAL, metrics, log, onFirstSync, onWatchForbidden: () => (this.#watchForbidden = true) });
    this.#localSets = new LocalSets({
      client,
      api,
      clusters: new Set(remotes.map(({ settings }) => settings.name)),
      configured: configuredIdentity(options),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#localWatches.hooks(),
      // What somebody did to a set is put right, but it isn't a remote event: `repairs_total` counts it, `propagation_seconds` doesn't.
      onChange: (keys) => {
        this.#settleRemotes();
        this.#enqueue(keys);
      },
      onOrphans: (cluster, count) => metrics.orphans.set({ cluster }, count),
    });
    return this.#localSets;
  }

  #openRemotes(localSets: LocalSets): readonly Remote[] {
    return this.#input.remotes.map(({ settings, connection }) =>
      new Remote({
        ...this.#input,
        settings,
        connection,
        mayChoose: () => this.#plans || this.#leadership.isLeader,
        localSets,
        domains: this.#domains,
        onChange: (keys) => this.#enqueue(keys, performance.now()),
        onKnown: () => this.#enqueueAll(performance.now()),
      }),
    );
  }

  #settleRemotes(): void {
    for (const remote of this.#remotes) remote.settle();
  }

  #newReconciler(localSets: LocalSets, write: WriteSet): SetReconciler {
    const { options, given } = this.#input;
    return new SetReconciler({
      remotes: this.#remotes,
      domains: this.#domains,
      maxNetsPerSet: options.maxNetsPerSet,
      hostNetworkPods: given.has('hostNetworkPods') ? options.hostNetworkPods : 'grandfather',
      localSets,
      write: async (change, context) => {
        this.#spend(change);
        return this.#limiter.run(() => this.#leadership.guard(({ signal, check }) => this.#write(change, context, { localSets, send: () => write(change, { signal, beforeSend: check }) })));
      },
      onNotices: (key, notices) => {
        for (const remote of this.#remotes) remote.notice(key, notices);
      },
    });
  }

  /** @throws RemoteWritesError when its remote must wait: before it takes a turn from another */
  #spend(change: Change): void {
    const remote = this.#clusterOf(change);
    if (remote !== undefined) this.#remoteWrites.spend(remote, { isDeletion: change.kind === 'delete' });
  }

  async #write(
    change: Change,
    { since }: ReconcileContext,
    { send, localSets }: { send: () => Promise<Written>; localSets: LocalSets },
  ): Promise<Written> {
    try {
      const written = await send();
      const { event, facts } = changeEvent(change);
      this.#writeLog.written(event, facts);
      const remote = this.#clusterOf(change);
      if (remote !== undefined) this.#count(remote, since);
      return written;
    } catch (error) {
      // Somebody wrote in between. A watch tells us what; where there is none, only a list does. A set that is there and
      // that we don't know of was made just now, or the list that we go by lacked it.
      if (isStale(error) && (this.#watchForbidden || change.kind === 'create')) localSets.reflector.recheck();
      throw error;
    }
  }

  #count(remote: string, since: number | undefined): void {
    const { propagation, repairs } = this.#input.metrics;
    if (since === undefined) repairs.inc({ remote });
    else propagation.observe({ remote }, (performance.now() - since) / 1000);
  }

  #clusterOf(change: Change): string | undefined {
    const { labels } = change.kind === 'delete' ? change.from : change.to;
    return readOwner(labels, this.#domains)?.cluster;
  }

  /** Every key that there are Pods or sets for. */
  #enqueueAll(since?: number): void {
    for (const remote of this.#remotes) this.#enqueue(remote.keys(), since);
    this.#enqueue(this.#localSets?.keys() ?? [], since);
  }

  #compareAll(localSets: LocalSets): void {
    localSets.reflector.relist();
    this.#noticeOlderSets();
    this.#enqueueAll();
  }

  #noticeOlderSets(): void {
    for (const remote of this.#remotes) remote.noticeOlderSets();
  }

  #enqueue(keys: Iterable<string>, since?: number): void {
    // Before any remote is known there is nothing to decide; each enqueues everything once it is.
    if (!this.#remotes.some((remote) => remote.synced)) return;
    for (const key of keys) this.#controller.enqueue(key, since);
  }
}

const isStale = (error: unknown): boolean => [404, 409].includes((error as { status?: number }).status ?? 0);
