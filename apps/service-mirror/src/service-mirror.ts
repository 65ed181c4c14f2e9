import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ClusterWatches, everyPeriod, isAllowedBy, liveness, POLL_INTERVAL_MS, readiness, WriteLog } from '@kube-semaphore/app';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller, type Leadership, Limiter, NotLeadingError, type ReconcileContext } from '@kube-semaphore/controller';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import { GLOBAL, globalKey, globalServiceName, mirrorKey, mirrorPrefixLabel, mirrorServiceName, parseServiceKey } from '@kube-semaphore/naming';
import type { Health, Logger } from '@kube-semaphore/runtime';
import type { Change } from './change.ts';
import { Claims } from './claims.ts';
import { type GlobalSource, globalTarget } from './global-target.ts';
import { matchesLabels, parseLabelSelector } from './label-selector.ts';
import { keysOfLocalName, sourcesOf } from './local-names.ts';
import { LocalCounts } from './local-counts.ts';
import { LocalObjects } from './local-objects.ts';
import { LocalZones } from './local-zones.ts';
import type { MirrorMetrics } from './metrics.ts';
import { mirrorTarget } from './mirror-target.ts';
import { ObjectWriter } from './object-writer.ts';
import type { MirrorOptions } from './options.ts';
import type { Plan } from './plan.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { rememberedMirrors } from './remembered.ts';
import { rememberedGlobals } from './remembered-globals.ts';
import { ServiceReconciler, type Target } from './service-reconciler.ts';
import type { RemoteSettings, Settings } from './settings.ts';
import type { SliceRules } from './read-slice.ts';
import { SourceCluster, type SourceClusterOptions, type Use } from './source-cluster.ts';
import type { SourceService } from './source.ts';
import type { Stale } from './stale-endpoints.ts';
import { changeEvent, writeChange } from './write-change.ts';

export type ServiceMirrorInput = {
  readonly options: MirrorOptions;
  readonly settings: Settings;
  readonly local: Connection;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly Connection[];
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Whether we may write, among all replicas; made from the client of the local cluster. */
  readonly leadership: (local: KubeClient) => Leadership;
  readonly userAgent: string;
};

/** How often is looked at what is worked now. */
const SAMPLE_MS = 5_000;

/** The local cluster's name in metrics and logs of what is written there. */
const LOCAL = 'local';

/**
 * The whole app: mirrors the Services of remote clusters, and merges those of all clusters into global ones. First it
 * lists what there is locally, for that is what the remotes' first lists are measured against; then the remotes; then it
 * reconciles, key by key.
 */
export class ServiceMirror {
  readonly #input: ServiceMirrorInput;
  readonly #client: KubeClient;
  readonly #leadership: Leadership;
  readonly #controller: Controller;
  readonly #limiter: Limiter;
  readonly #queueMetrics: QueueMetrics;
  readonly #writeLog: WriteLog;
  readonly #localWatches: ClusterWatches;
  readonly #local: LocalObjects;
  readonly #writer: ObjectWriter;
  readonly #reconciler: ServiceReconciler;
  readonly #prefixes: ReadonlyMap<string, string>;
  readonly #claims = new Claims();
  /** Keys whose source was seen since the process started. */
  readonly #seen = new Set<string>();
  readonly #localListed = Promise.withResolvers<void>();
  /** The remotes, and the local cluster if there are global services. */
  readonly #clusters: readonly SourceCluster[];
  readonly #zones: LocalZones | undefined;
  readonly #stale = new Set<string>();
  #watchingSince: number | undefined;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, log, metrics } = input;
    this.#input = input;
    this.#client = this.#clientOf(input.local);
    this.#leadership = input.leadership(this.#client);
    this.#prefixes = new Map(settings.remotes.map(({ name, prefix }) => [name, prefix]));
    this.#writeLog = new WriteLog({ log, what: 'service', onTrouble: (inTrouble) => metrics.remoteUp.set({ remote: LOCAL }, inTrouble ? 0 : 1) });
    this.#limiter = new Limiter(options.writeConcurrency);
    this.#queueMetrics = new QueueMetrics({ metrics, nameOf: (key) => queueName(key, settings.local.name) });
    this.#localWatches = new ClusterWatches({ cluster: LOCAL, metrics, log, onFirstSync: () => this.#localListed.resolve() });
    const counts = new LocalCounts({ metrics, prefixes: this.#prefixes, local: settings.local.name });
    this.#local = new LocalObjects({
      client: this.#client,
      namespace: settings.mirrorNamespace,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: () => this.#localWatches.hooks(),
      // What somebody did to an object is put right, but it isn't a remote event: `propagation_seconds` doesn't count it.
      onChange: (name) => this.#enqueue(this.#keysOfName(name), Infinity),
      onObject: (watch, change) => counts.changed(watch, change),
    });
    this.#writer = new ObjectWriter(this.#client, settings.mirrorNamespace);
    const remotes = settings.remotes.map((remote, i) => this.#newRemote(remote, input.remotes[i]!));
    this.#clusters = settings.global === undefined ? remotes : [...remotes, this.#newLocal()];
    this.#zones = settings.global === undefined ? undefined : this.#newZones();
    this.#reconciler = new ServiceReconciler({
      local: this.#local,
      target: (key) => this.#target(key),
      claimants: (name) => this.#claims.keys(name),
      sources: (observed) => sourcesOf(observed, this.#prefixes),
      write: (change, context) => this.#write(change, context),
      onNotices: (key, notices) => {
        for (const cluster of this.#clusters) cluster.notice(key, notices.filter((notice) => this.#concerns(notice.cluster, cluster.cluster)));
      },
    });
    this.#controller = new Controller({
      // A standby decides nothing: its stores are warm, and every key is looked at when it takes over.
      reconcile: async (key, context) => (this.#leadership.isLeader ? this.#reconciler.reconcile(key, context) : { wrote: false }),
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      observer: this.#queueMetrics,
      onFailure: (failure) => {
        if (!(failure.error instanceof NotLeadingError)) this.#writeLog.failed(failure);
      },
    });
  }

  /** Whether the loops turn. */
  isLive(): Health {
    const remotes = this.#clusters.map(({ cluster, silentMs }) => ({ name: `the services of ${cluster}`, silentMs }));
    const loops = [...this.#local.loops, ...(this.#watchingSince === undefined ? [] : remotes)];
    return liveness({ loops, longestReconcileMs: this.#controller.longestRunningMs, idleTimeoutMs: this.#input.options.watchIdleTimeoutMs });
  }

  /** Whether the local side stands, and each remote has synced or had its time. */
  isReady(): Health {
    return readiness({
      localSynced: this.#local.synced,
      remotes: this.#clusters.map(({ cluster, synced }) => ({ name: cluster, synced })),
      watchedMs: this.#watchingSince === undefined ? undefined : performance.now() - this.#watchingSince,
    });
  }

  /** Works until `signal` is aborted. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#withClusters(signal, async (loops, running) => {
      const { settings } = this.#input;
      loops.push(
        this.#controller.run(running),
        this.#leadership.run({
          ...running,
          onStartedLeading: () => this.#enqueueAll(performance.now()),
          // Its writes are refused from then on, and the next term begins with a look at everything.
          onStoppedLeading: () => undefined,
        }),
        everyPeriod(SAMPLE_MS, () => this.#queueMetrics.sample(), running),
        ...settings.remotes.map((remote) => everyPeriod(staleCheckMs(remote), () => this.#checkStale(remote), running)),
        ...settings.remotes.map(({ name, resyncPeriodMs }) => everyPeriod(resyncPeriodMs, () => this.#enqueue(this.#keysOfCluster(name), Infinity), running)),
      );
      await Promise.all(loops);
    });
  }

  /**
   * What `run` would write now, without writing it: the same informers and the same reconcile.
   *
   * @param timeoutMs how long to wait for the first lists of the local cluster, and then for those of all remotes
   * @throws Error when the local objects can't be listed in time
   */
  async plan({ signal, timeoutMs }: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    const gaveUp = new AbortController();
    const timer = setTimeout(() => gaveUp.abort(new Error(`the local objects couldn't be listed within ${timeoutMs} ms`)), timeoutMs);
    const plans: Plan[] = [];
    await this.#withClusters(AbortSignal.any([signal, gaveUp.signal]), async (_, running) => {
      clearTimeout(timer);
      const patience = delay(timeoutMs, undefined, { ...running, ref: false });
      await Promise.race([Promise.all(this.#clusters.map(({ firstSync }) => firstSync)), patience]);
      const changes = [...new Set(this.#allKeys())].toSorted().flatMap((key) => this.#reconciler.plan(key));
      plans.push({ changes, remotes: this.#clusters.map((cluster) => this.#planOf(cluster)) });
    }).finally(() => clearTimeout(timer));
    return plans[0]!;
  }

  /** Lists what is local, then watches all clusters, calls `work`, and in the end stops everything. */
  async #withClusters(stopped: AbortSignal, work: (loops: Promise<void>[], running: RunOptions) => Promise<void>): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([stopped, ended.signal]);
    // Every request listens to it for as long as it runs.
    setMaxListeners(0, signal);
    const loops: Promise<void>[] = [this.#local.run({ signal })];
    try {
      await Promise.race([this.#localListed.promise, ...loops]);
      signal.throwIfAborted();
      this.#remember();
      this.#watchingSince = performance.now();
      loops.push(...this.#clusters.map((cluster) => cluster.run({ signal })), ...(this.#zones === undefined ? [] : [this.#zones.run({ signal })]));
      await work(loops, { signal });
    } finally {
      ended.abort();
      await Promise.all(loops);
    }
  }

  #clientOf(connection: Connection): KubeClient {
    const { userAgent, metrics, options } = this.#input;
    const onRequest = ({ host, method, code, seconds }: RequestReport): void => {
      metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
      metrics.kubeRequestDuration.observe({ host, method }, seconds);
    };
    return new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  }

  #newRemote(remote: RemoteSettings, connection: Connection): SourceCluster {
    const { mirrorSelector, global } = this.#input.settings;
    return this.#newCluster(remote.name, {
      client: this.#clientOf(connection),
      isAllowed: isAllowedBy(remote.allowedPodCidrs),
      isLocal: false,
      selectors: { mirror: mirrorSelector, ...(global !== undefined && { global: global.selector }) },
      onConfirmed: () => this.#checkStale(remote),
    });
  }

  #newLocal(): SourceCluster {
    const { local, global } = this.#input.settings;
    return this.#newCluster(local.name, {
      client: this.#client,
      isAllowed: () => true,
      isLocal: true,
      selectors: { global: global!.selector },
      onConfirmed: () => undefined,
    });
  }

  #newZones(): LocalZones {
    const { options, settings, log } = this.#input;
    return new LocalZones({
      configured: settings.local.zones,
      client: this.#client,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      log,
      onChange: () => this.#enqueueAll(Infinity),
    });
  }

  #newCluster(
    name: string,
    { client, isAllowed, isLocal, selectors, onConfirmed }: Pick<SourceClusterOptions, 'client' | 'selectors'> & SliceRules & { readonly onConfirmed: () => void },
  ): SourceCluster {
    const { options, settings, log, metrics } = this.#input;
    const routing = parseLabelSelector(settings.global?.routingStrategyLabel ?? '');
    const isLocalFirst = (labels: Readonly<Record<string, string>>): boolean =>
      settings.global?.routingStrategyLabel !== undefined && routing.ok && matchesLabels(routing.value, labels);
    return new SourceCluster({
      cluster: name,
      client,
      options,
      rules: { isAllowed, isLocal, isLocalFirst },
      selectors,
      log,
      metrics,
      hooks: () => ({ onConfirmed }),
      onService: (uses, change) => this.#serviceChanged(name, uses, change),
      onSlices: (uses, namespace, service) => this.#enqueue(uses.map((use) => this.#keyOf(use, name, { namespace, name: service })), performance.now()),
      onKnown: () => this.#enqueueAll(performance.now()),
      onSettled: () => this.#enqueueAll(Infinity),
    });
  }

  /** Measures the first list of each remote against what its mirrors show. */
  #remember(): void {
    if (this.#input.options.deletionGuardPercent === 100) return;
    const observed = { services: this.#local.services(), slices: (name: string) => this.#local.slices(name) };
    for (const cluster of this.#clusters) {
      const prefix = this.#prefixes.get(cluster.cluster);
      if (prefix !== undefined) cluster.seed('mirror', rememberedMirrors(observed, { cluster: cluster.cluster, prefix }));
      if (cluster.source('global') !== undefined) cluster.seed('global', rememberedGlobals(observed, cluster.cluster));
    }
  }

  #serviceChanged(cluster: string, uses: readonly Use[], { previous, current }: { previous: SourceService | undefined; current: SourceService | undefined }): void {
    const since = performance.now();
    const { namespace, name } = (current ?? previous)!;
    for (const use of uses) {
      const key = this.#keyOf(use, cluster, { namespace, name });
      const claim = { key, cluster, namespace, name };
      const localName = this.#localNameOf(use, cluster, { namespace, name });
      const keys = current === undefined ? this.#claims.remove(localName, claim) : this.#claims.add(localName, { ...claim, createdAt: current.createdAt });
      // What only our own objects tell of hasn't been seen.
      if (current !== undefined && current.uid !== '') this.#seen.add(key);
      this.#enqueue(new Set([key, ...keys]), since);
    }
  }

  #keyOf(use: Use, cluster: string, { namespace, name }: { namespace: string; name: string }): string {
    return use === 'mirror' ? mirrorKey(cluster, namespace, name) : globalKey(namespace, name);
  }

  #localNameOf(use: Use, cluster: string, { namespace, name }: { namespace: string; name: string }): string {
    return use === 'mirror' ? mirrorServiceName(this.#prefixes.get(cluster)!, namespace, name) : globalServiceName(namespace, name);
  }

  #target(key: string): Target | undefined {
    const parsed = parseServiceKey(key);
    if (parsed === undefined) return undefined;
    if (parsed.kind === 'global') return this.#globalTarget(key, parsed);
    const cluster = this.#clusters.find((each) => each.cluster === parsed.cluster);
    const source = cluster?.source('mirror');
    const prefix = this.#prefixes.get(parsed.cluster);
    if (source === undefined || prefix === undefined) return undefined;
    const keepsStale = !this.#input.settings.serviceSync && !this.#seen.has(key);
    return mirrorTarget(parsed, { cluster: parsed.cluster, prefix, source, prefixes: [...this.#prefixes.values()], keepsStale, keepsEndpoints: !cluster!.settled });
  }

  #globalTarget(key: string, of: { namespace: string; name: string }): Target | undefined {
    const { global, local } = this.#input.settings;
    if (global === undefined) return undefined;
    const clusters = this.#clusters.flatMap((each): GlobalSource[] => {
      const source = each.source('global');
      return source === undefined ? [] : [{ cluster: each.cluster, isLocal: each.cluster === local.name, stale: this.#staleness(each.cluster), source }];
    });
    const keepsStale = !global.slicesSync && !this.#seen.has(key);
    return globalTarget(of, { clusters, local: this.#local, keepsStale, hints: global.hints, zones: this.#zones?.zones ?? [] });
  }

  #staleness(cluster: string): Stale {
    const action = this.#input.settings.remotes.find(({ name }) => name === cluster)?.staleAction;
    return action === undefined || action === 'keep' || !this.#stale.has(cluster) ? 'no' : action;
  }

  /** A remote that is out of reach for too long is stale, and is so no more as soon as it answers. */
  #checkStale({ name, staleAfterMs, staleAction }: RemoteSettings): void {
    const cluster = this.#clusters.find((each) => each.cluster === name);
    if (cluster === undefined || staleAfterMs === 0) return;
    const isStale = !cluster.isUp && cluster.unseenMs > staleAfterMs;
    if (isStale === this.#stale.has(name)) return;
    if (isStale) this.#stale.add(name);
    else this.#stale.delete(name);
    this.#input.log.warn({ cluster: name, staleAction }, isStale ? 'not seen for too long: its endpoints in global services count for nothing' : 'seen again: its endpoints in global services count again');
    this.#enqueue(this.#keysOfCluster(name), performance.now());
  }

  /** Whether what is left out for one cluster's sake is that cluster's: of a global Service as a whole, the local one's. */
  #concerns(of: string, cluster: string): boolean {
    return of === cluster || (of === GLOBAL && cluster === this.#input.settings.local.name);
  }

  #write(change: Change, { since }: ReconcileContext): Promise<Service | undefined> {
    return this.#limiter.run(() =>
      this.#leadership.guard(async ({ signal, check }) => {
        const service = await writeChange(change, { writer: this.#writer, local: this.#local }, { signal, beforeSend: check });
        const { event, facts } = changeEvent(change);
        this.#writeLog.written(event, facts);
        const remote = this.#clusterOf(change);
        if (since !== Infinity && remote !== undefined) this.#input.metrics.propagation.observe({ remote }, (performance.now() - since) / 1000);
        return service;
      }),
    );
  }

  /** The remote that a change comes from. */
  #clusterOf(change: Change): string | undefined {
    if (change.kind === 'delete-endpoints') return undefined;
    const { name } = 'to' in change ? change.to : change.from;
    const [key] = this.#keysOfName('owner' in change ? change.owner.name : name);
    const parsed = key === undefined ? undefined : parseServiceKey(key);
    return parsed?.kind === 'mirror' ? parsed.cluster : undefined;
  }

  #planOf(cluster: SourceCluster): Plan['remotes'][number] {
    const prefix = this.#prefixes.get(cluster.cluster);
    const mirrors = this.#local.services().filter(({ labels }) => prefix !== undefined && labels[mirrorPrefixLabel] === prefix);
    return {
      cluster: cluster.cluster,
      reached: cluster.synced,
      heldDeletions: cluster.synced ? cluster.held : 0,
      skipped: cluster.skipped,
      services: mirrors.map(({ name }) => name).toSorted(),
    };
  }

  #keysOfName(name: string): readonly string[] {
    const claimants = this.#claims.keys(name);
    return claimants.length > 0 ? claimants : keysOfLocalName(name, this.#prefixes);
  }

  #keysOfCluster(name: string): readonly string[] {
    const cluster = this.#clusters.find(({ cluster: each }) => each === name);
    return (['mirror', 'global'] as const).flatMap((use) => (cluster?.source(use)?.services() ?? []).map((service) => this.#keyOf(use, name, service)));
  }

  /** Every key that there is a source or a local object for. */
  #allKeys(): readonly string[] {
    const local = [...this.#local.services().map(({ name }) => name), ...this.#local.namesWithSlices()];
    return [...this.#clusters.flatMap(({ cluster }) => this.#keysOfCluster(cluster)), ...local.flatMap((name) => this.#keysOfName(name))];
  }

  #enqueueAll(since: number): void {
    this.#enqueue(this.#allKeys(), since);
  }

  #enqueue(keys: Iterable<string>, since: number): void {
    // Before anything is known there is nothing to decide; each cluster enqueues everything once it is.
    if (!this.#local.synced) return;
    for (const key of keys) this.#controller.enqueue(key, since);
  }
}

/** Often enough that nobody waits much longer than was asked for. */
const staleCheckMs = ({ staleAfterMs }: RemoteSettings): number => Math.min(1_000, staleAfterMs / 4);

/** What the Go program called the queue that a key would have been in. */
const queueName = (key: string, local: string): string => (key.startsWith(`${GLOBAL}/`) ? `${local}-global-service` : `${key.slice(0, key.indexOf('/'))}-service`);
