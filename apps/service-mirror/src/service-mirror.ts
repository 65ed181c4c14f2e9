import { everyPeriod, LeaderController, Runner } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Health, Logger } from '@kube-semaphore/runtime';
import type { MirrorOptions } from './config/options.ts';
import { prefixesOf, type Settings } from './config/settings.ts';
import { ChangeWriter } from './local/change-writer.ts';
import { missingNamespace, type NamespaceCheck, warnOfMissingNamespace } from './local/mirror-namespace.ts';
import { LocalObjects } from './local/objects.ts';
import { ObjectWriter } from './local/object-writer.ts';
import { LocalZones } from './local/zones.ts';
import { Gaps } from './metrics/gaps.ts';
import { LocalCounts } from './metrics/local-counts.ts';
import type { MirrorMetrics } from './metrics/metrics.ts';
import { QueueMetrics } from './metrics/queue.ts';
import type { Plan } from './plan.ts';
import { ServiceReconciler } from './reconciler.ts';
import { SourceClusters } from './remote/clusters.ts';
import { ServiceKeys } from './remote/service-keys.ts';
import { Targets } from './remote/targets.ts';

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

/**
 * The whole app: mirrors the Services of remote clusters, and merges those of all clusters into global ones. It lists
 * the local objects first, because the first lists of the remotes are measured against them.
 */
export class ServiceMirror {
  readonly #queueMetrics: QueueMetrics;
  readonly #counts: LocalCounts;
  readonly #local: LocalObjects;
  readonly #clusters: SourceClusters;
  readonly #namespace: NamespaceCheck;
  readonly #reconciler: ServiceReconciler;
  readonly #controller: LeaderController;
  readonly #runner: Runner;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, local: client, log, metrics, leadership } = input;
    const gaps = new Gaps();
    const writer = new ObjectWriter(client, settings.mirrorNamespace);
    this.#queueMetrics = new QueueMetrics({ metrics, local: settings.local.name });
    this.#counts = new LocalCounts({ metrics, prefixes: prefixesOf(settings), local: settings.local.name });
    const local = new LocalObjects({
      ...input,
      client,
      // No `since`: a repair counts in `repairs_total`, not in `propagation_seconds`.
      onChange: (service) => this.#enqueue(keys.ofName(service)),
      observers: [this.#counts, gaps],
    });
    this.#local = local;
    this.#namespace = { writer, local, log };
    const keys = new ServiceKeys({ settings, options, local, metrics });
    const onKeys = (changed: Iterable<string>, since?: number): void => this.#enqueue(changed, since);
    const clusters = new SourceClusters({ ...input, client, local, keys, onKeys });
    this.#clusters = clusters;
    const zones = new LocalZones({ ...input, client, onChange: () => this.#enqueue(clusters.allKeys()) });
    const writes = new ChangeWriter({ ...input, writer, local, gaps, keys, clusters });
    this.#reconciler = new ServiceReconciler({
      local,
      keys,
      targets: new Targets({ settings, local, clusters, keys, zones }),
      write: (change, context) => writes.write(change, context),
      onDiagnostics: (key, diagnostics) => clusters.diagnose(key, diagnostics),
    });
    this.#controller = new LeaderController({
      leadership,
      options,
      reconcile: (key, context) => this.#reconciler.reconcile(key, context),
      observer: this.#queueMetrics,
      onFailure: (failure) => writes.failed(failure),
      onStartedLeading: (running) => {
        this.#enqueue(clusters.allKeys(), performance.now());
        void warnOfMissingNamespace(this.#namespace, running);
      },
    });
    this.#runner = new Runner({
      local,
      prepare: (running) => clusters.readServiceRanges(running),
      watch: async (running) => [clusters.run(running), zones.run(running)],
      remotes: () => clusters.all,
      watched: 'services',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  readonly isLive = (): Health => this.#runner.isLive();
  readonly isReady = (): Health => this.#runner.isReady();

  /** Works until `signal` is aborted. */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      everyPeriod(SAMPLE_MS, () => this.#queueMetrics.sample(), running),
      everyPeriod(SAMPLE_MS, () => this.#counts.sample(this.#local), running),
    ]);
  }

  /**
   * What `run` would write now, by the same informers and the same reconcile.
   *
   * @throws Error if the local objects can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    return this.#runner.once(options, async (running) => ({
      missingNamespace: await missingNamespace(this.#namespace, running),
      changes: [...this.#clusters.allKeys()].toSorted().flatMap((key) => this.#reconciler.plan(key)),
      // After the reconciles, which find diagnostics.
      remotes: this.#clusters.plan(),
      orphans: this.#counts.orphans,
    }));
  }

  #enqueue(keys: Iterable<string>, since?: number): void {
    // Without the local objects nothing can be decided. Each cluster enqueues all keys once it is listed.
    if (this.#local.isSynced()) this.#controller.enqueue(keys, since);
  }
}
