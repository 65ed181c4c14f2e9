import {
  type AppStatus,
  everyPeriod,
  foreseeRefusals,
  LeaderController,
  LocalWrites,
  Runner,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import { type Health, type Logger, shared } from '@kube-semaphore/runtime';
import type { MirrorOptions } from './config/options.ts';
import { prefixesOf, type Settings } from './config/settings.ts';
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
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly KubeClient[];
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Whether this replica may write. */
  readonly leadership: Leadership;
};

/** How often to update the metrics that no event updates. */
const SAMPLE_MS = 5_000;

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
  readonly #namespace: NamespaceCheck;
  readonly #reconciler: ServiceReconciler;
  readonly #controller: LeaderController;
  readonly #runner: Runner;
  readonly #resolvedNames: () => Promise<readonly ResolvedName[]>;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, local: client, log, metrics, leadership } = input;
    this.#input = input;
    const gaps = new Gaps();
    const writer = new ObjectWriter(client, settings.mirrorNamespace);
    this.#queueMetrics = new QueueMetrics({ metrics, local: settings.local.name });
    this.#counts = countsOf(input);
    const local = new LocalObjects({
      ...input,
      client,
      // No `since`: a repair counts in `repairs_total`, not in `propagation_seconds`.
      onChange: (service) => this.#enqueue(keys.ofName(service)),
      observers: [this.#counts, gaps],
    });
    this.#local = local;
    this.#writer = writer;
    this.#namespace = { writer, local, log };
    const keys = new ServiceKeys({ settings, options, local, metrics });
    const onKeys = (changed: Iterable<string>, since?: number): void => this.#enqueue(changed, since);
    const onStale = (cluster: string): void => this.#controller.enqueue(this.#mcs?.keysOf(cluster) ?? []);
    const clusters = new SourceClusters({ ...input, client, local, keys, onKeys, onStale });
    this.#clusters = clusters;
    const zones = new LocalZones({ ...input, client, onChange: () => this.#enqueue(clusters.allKeys()) });
    const writes = new LocalWrites({
      ...input,
      concurrency: options.writeConcurrency,
      what: 'service',
      remotes: [...settings.remotes.map(({ name }) => name), GLOBAL],
      // A Service and its slice, and for an export the ServiceImport besides.
      objectsOf: (remote) => 2 * keys.servicesOf(remote) + 3 * (this.#mcs?.exportsOf(remote) ?? 0),
      perSecond: options.maxRemoteWrites,
    });
    const changes = new ChangeWriter({ ...input, writes, writer, local, gaps, clusters });
    this.#reconciler = new ServiceReconciler({
      local,
      keys,
      targets: new Targets({ settings, local, clusters, keys, zones }),
      write: (change, context) => changes.write(change, context),
      onDiagnostics: (key, diagnostics) => clusters.diagnose(key, diagnostics),
    });
    if (settings.mcs !== undefined)
      this.#mcs = new MultiClusterServices({
        ...input,
        client,
        sources: clusters,
        writes,
        counts: this.#counts,
        onKeys: (...event) => this.#controller.enqueue(...event),
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
        this.#enqueue(clusters.allKeys(), performance.now());
        this.#controller.enqueue(this.#mcs?.keys() ?? [], performance.now());
        void warnOfMissingNamespace(this.#namespace, running);
      },
    });
    this.#runner = new Runner({
      local,
      prepare: (running) => clusters.readServiceRanges(running),
      watch: async (running) => [
        clusters.run(running),
        zones.run(running),
        ...(this.#mcs ? [this.#mcs.run(running)] : []),
      ],
      remotes: () => [...clusters.all, ...(this.#mcs?.clusters ?? [])],
      watched: 'services',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
    const asked = { prefixes: prefixesOf(settings), hasGlobals: settings.global !== undefined };
    this.#resolvedNames = shared(() => resolveNames(askedNames(local, asked)), { forMs: ASK_DNS_MS });
  }

  readonly isLive = (): Health => this.#runner.isLive();
  readonly isReady = (): Health => this.#runner.isReady();

  /** What `/status` says. Asks DNS, at most once in ten seconds. */
  async status(): Promise<AppStatus & { readonly names: readonly ResolvedName[] }> {
    const names = await this.#resolvedNames();
    const { leadership, settings } = this.#input;
    const { local, mirrorNamespace, mirrorSelector, global, mcs = null } = settings;
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
        mcs,
        localCIDRs: local.cidrs.map(({ text }) => text),
      },
    };
  }

  /** Works until `signal` is aborted. */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      everyPeriod(SAMPLE_MS, () => this.#sample(), running),
    ]);
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

  #enqueue(keys: Iterable<string>, since?: number): void {
    // Without the local objects nothing can be decided. Each cluster enqueues all keys once it is listed.
    if (this.#local.isSynced()) this.#controller.enqueue(keys, since);
  }
}

function countsOf({ settings, metrics }: ServiceMirrorInput): LocalCounts {
  const { local, global } = settings;
  const hasGlobals = global !== undefined;
  return new LocalCounts({ metrics, prefixes: prefixesOf(settings), local: local.name, hasGlobals });
}
