import {
  type AppStatus,
  everyPeriod,
  foreseeRefusals,
  LeaderController,
  LocalWrites,
  type Remote,
  type RemoteChanges,
  type Remotes,
  Runner,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import { type Health, type Logger, shared } from '@kube-semaphore/runtime';
import type { MirrorOptions } from './config/options.ts';
import { orderTexts } from './config/cluster-order.ts';
import { prefixesOf, type RemoteSettings, type Settings } from './config/settings.ts';
import { RoutingStates } from './endpoints/routing-states.ts';
import { askedNames } from './services/desired/asked-names.ts';
import { ChangeWriter } from './services/local/change-writer.ts';
import { missingNamespace, type NamespaceCheck, warnOfMissingNamespace } from './services/local/mirror-namespace.ts';
import { LocalObjects } from './services/local/objects.ts';
import { ObjectWriter } from './services/local/object-writer.ts';
import { plannedWrites } from './services/local/planned-writes.ts';
import { type ResolvedName, resolveNames } from './services/local/resolve-names.ts';
import { LocalZones } from './services/local/zones.ts';
import { MultiClusterServices } from './imports/multi-cluster-services.ts';
import { Gaps } from './metrics/gaps.ts';
import { LocalCounts } from './metrics/local-counts.ts';
import type { MirrorMetrics } from './metrics/metrics.ts';
import { QueueMetrics } from './metrics/queue.ts';
import type { Plan } from './plan.ts';
import { GLOBAL, parseImportKey } from './names.ts';
import { ServiceReconciler } from './services/reconciler.ts';
import { SourceClusters } from './services/remote/source-clusters.ts';
import { ServiceKeys } from './services/service-keys.ts';
import { Targets } from './services/targets.ts';

export type ServiceMirrorInput = {
  readonly options: MirrorOptions;
  readonly settings: Settings;
  readonly local: KubeClient;
  readonly remotes: Remotes<RemoteSettings>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Whether this replica may write. */
  readonly leadership: Leadership;
};

/** How often to update the metrics that no event updates. */
const SAMPLE_MS = 5_000;

/** How often to look for Services that time changes. */
const DUE_MS = 1_000;

/** How often reads of `/status` may ask DNS. */
const ASK_DNS_MS = 10_000;

/**
 * The whole app: mirrors the Services of remote clusters, and merges those of all clusters into global ones. It lists
 * the local objects first, because the first lists of the remotes are measured against them.
 */
export class ServiceMirror {
  readonly #input: ServiceMirrorInput;
  readonly #queueMetrics: QueueMetrics;
  readonly #counts: LocalCounts;
  readonly #local: LocalObjects;
  readonly #clusters: SourceClusters;
  /** Undefined without `mcs` in the config. */
  readonly #mcs: MultiClusterServices | undefined;
  readonly #writer: ObjectWriter;
  readonly #writes: LocalWrites;
  readonly #namespace: NamespaceCheck;
  readonly #states = new RoutingStates();
  readonly #reconciler: ServiceReconciler;
  readonly #controller: LeaderController;
  readonly #runner: Runner;
  readonly #resolvedNames: () => Promise<readonly ResolvedName[]>;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, remotes, local: client, log, metrics, leadership } = input;
    this.#input = input;
    const gaps = new Gaps();
    const writer = new ObjectWriter(client, settings.mirrorNamespace);
    const queue: Pick<LeaderController, 'enqueue'> = { enqueue: (...event) => this.#controller.enqueue(...event) };
    this.#queueMetrics = new QueueMetrics({ metrics, remotes, local: settings.local.name });
    this.#counts = countsOf(input);
    const local = new LocalObjects({
      ...input,
      client,
      onChange: (service) => {
        // Before, nothing can be decided, and each cluster enqueues all keys once it is listed. No `since`: a repair counts in
        // `repairs_total`, not in `propagation_seconds`.
        if (local.isSynced()) queue.enqueue(keys.ofName(service));
      },
      observers: [this.#counts, gaps],
    });
    this.#local = local;
    this.#writer = writer;
    this.#namespace = { writer, local, log };
    const keys = new ServiceKeys({ remotes, options, local, metrics });
    const onStale = (cluster: string): void => queue.enqueue(this.#mcs?.keysOf(cluster) ?? []);
    const clusters = new SourceClusters({ ...input, client, local, keys, queue, onStale });
    this.#clusters = clusters;
    const zones = new LocalZones({ ...input, client, keys: () => this.#allKeys(), queue });
    // A Service and its slice, and for an export the ServiceImport besides.
    const objectsOf = (remote: string) => 2 * keys.servicesOf(remote) + 3 * (this.#mcs?.exportsOf(remote) ?? 0);
    const writes = writesOf(input, objectsOf);
    this.#writes = writes;
    const changes = new ChangeWriter({ ...input, writes, writer, local, gaps, clusters });
    this.#reconciler = new ServiceReconciler({
      local,
      keys,
      clusters,
      targets: new Targets({ settings, remotes, local, clusters, keys, zones, states: this.#states }),
      write: (change, context) => changes.write(change, context),
    });
    if (settings.mcs !== undefined)
      this.#mcs = new MultiClusterServices({
        ...input,
        client,
        sources: clusters,
        writes,
        counts: this.#counts,
        zones,
        states: this.#states,
        queue,
      });
    this.#controller = new LeaderController({
      leadership,
      options,
      metrics,
      reconcile: (key, context) =>
        parseImportKey(key) === undefined
          ? this.#reconciler.reconcile(key, context)
          : this.#mcs!.reconcile(key, context),
      observer: this.#queueMetrics,
      onFailure: (failure) => writes.failed(failure, parseImportKey(failure.key) && 'import'),
      onStartedLeading: (running) => {
        this.#enqueueAll(performance.now());
        void warnOfMissingNamespace(this.#namespace, running);
      },
    });
    this.#runner = new Runner({
      local,
      prepare: (running) => clusters.readServiceRanges(running),
      watch: async (running) => [
        remotes.run((remote, run) => this.#follow(remote, run), running),
        clusters.run(running),
        zones.run(running),
        ...(this.#mcs ? [this.#mcs.run(running)] : []),
      ],
      remotes: () => [...clusters.all, ...(this.#mcs?.clusters ?? [])],
      watched: 'services',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
    const hasGlobals = settings.global !== undefined;
    const asked = () => askedNames(local, { prefixes: prefixesOf(remotes), hasGlobals });
    this.#resolvedNames = shared(() => resolveNames(asked()), { forMs: ASK_DNS_MS });
  }

  readonly isLive = (): Health => this.#runner.isLive();
  readonly isReady = (): Health => this.#runner.isReady();

  /** What `/status` says. Asks DNS, at most once in ten seconds. */
  async status(): Promise<AppStatus & { readonly names: readonly ResolvedName[] }> {
    const names = await this.#resolvedNames();
    const { leadership, settings } = this.#input;
    const { local, mirrorNamespace, mirrorSelector, global, mcs } = settings;
    return {
      leader: leadership.isLeader,
      local: this.#runner.localStatus(),
      ...this.#clusters.status(),
      names,
      config: {
        name: local.name,
        mirrorNamespace,
        mirrorSelector,
        globalSelector: global?.selector ?? null,
        mcs: mcs === undefined ? null : { ...mcs, clusterOrder: orderTexts(mcs.clusterOrder) },
        clusterOrder: global === undefined ? null : orderTexts(global.clusterOrder),
        localCIDRs: local.cidrs.map(({ text }) => text),
      },
    };
  }

  /** Works until `signal` is aborted. */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      everyPeriod(SAMPLE_MS, () => this.#sample(), running),
      everyPeriod(DUE_MS, () => this.#controller.enqueue(this.#states.dueKeys()), running),
    ]);
  }

  /**
   * Takes over the remotes of a changed config. What is here of one that left stays, as that of any cluster that isn't in the
   * config.
   *
   * @throws {ConfigError} if there is no way to connect to one; then all stays as it was
   */
  async replaceRemotes(next: readonly RemoteSettings[]): Promise<RemoteChanges> {
    const changes = await this.#input.remotes.replace(next);
    for (const name of [...changes.removed, ...changes.changed]) {
      this.#queueMetrics.forget(name);
      this.#writes.end(name);
    }
    for (const name of [...changes.added, ...changes.changed]) this.#writes.begin(name);
    this.#counts.recount(this.#local.all(), this.#mcs?.parts() ?? []);
    this.#enqueueAll();
    return changes;
  }

  /**
   * What `run` would write now, by the same informers and the same reconcile.
   *
   * @throws Error if the local objects can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    this.#clusters.findUnlabelled();
    return this.#runner.once(options, async (running) => {
      const noNamespace = await missingNamespace(this.#namespace, running);
      const changes = [...this.#clusters.allKeys()].toSorted().flatMap((key) => this.#reconciler.plan(key));
      const { writes = [], ...imports } = this.#mcs?.plan() ?? { importChanges: [], exports: [] };
      // After the reconciles, which find diagnostics.
      const remotes = this.#clusters.plan();
      const plan = { missingNamespace: noNamespace, changes, ...imports, remotes, orphans: this.#counts.orphans };
      const ofMirrors = noNamespace === undefined ? plannedWrites(changes, this.#writer) : [];
      return { ...plan, refusals: await foreseeRefusals([...ofMirrors, ...writes], options) };
    });
  }

  #sample(): void {
    this.#queueMetrics.sample();
    this.#counts.sample(this.#local);
    this.#mcs?.sample();
  }

  async #follow(remote: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    await Promise.all([this.#clusters.follow(remote, running), this.#mcs?.follow(remote, running)]);
  }

  #enqueueAll(since?: number): void {
    this.#controller.enqueue(this.#allKeys(), since);
  }

  /** Without the local objects, nothing can be decided about Services. */
  #allKeys(): readonly string[] {
    return [...(this.#local.isSynced() ? this.#clusters.allKeys() : []), ...(this.#mcs?.keys() ?? [])];
  }
}

function writesOf(input: ServiceMirrorInput, objectsOf: (remote: string) => number): LocalWrites {
  const { writeConcurrency: concurrency, maxRemoteWrites: perSecond } = input.options;
  const writes = new LocalWrites({ ...input, concurrency, what: 'service', objectsOf, perSecond });
  for (const account of [...input.remotes.byName.keys(), GLOBAL]) writes.begin(account);
  return writes;
}

function countsOf({ settings, remotes, metrics }: ServiceMirrorInput): LocalCounts {
  const { local, global } = settings;
  return new LocalCounts({ metrics, remotes, local: local.name, hasGlobals: global !== undefined });
}
