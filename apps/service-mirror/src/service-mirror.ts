import {
  ClusterWatches,
  everyPeriod,
  localServiceRanges,
  LocalWrites,
  POLL_INTERVAL_MS,
  Runner,
} from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller } from '@kube-semaphore/controller';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import { GLOBAL } from './names.ts';
import type { Cidr } from '@kube-semaphore/net';
import type { Health, Logger } from '@kube-semaphore/runtime';
import type { MirrorOptions } from './config/options.ts';
import type { Settings } from './config/settings.ts';
import { sourcesOf } from './desired/local-names.ts';
import { mirrorsWithoutReadyEndpoints } from './desired/ready-mirrors.ts';
import { LocalObjects } from './local/objects.ts';
import { NoNamespaceError } from './local/no-namespace-error.ts';
import { ObjectWriter } from './local/object-writer.ts';
import { changeWriter } from './local/change-writer.ts';
import { Gaps } from './metrics/gaps.ts';
import { LocalCounts } from './metrics/local-counts.ts';
import type { MirrorMetrics } from './metrics/metrics.ts';
import { QueueMetrics } from './metrics/queue.ts';
import type { Plan } from './plan.ts';
import { ServiceReconciler } from './reconciler.ts';
import { Sources } from './remote/sources.ts';

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

/** How often is looked at what is worked now, and which mirrors have nothing behind them. */
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
  readonly #leadership: Leadership;
  readonly #controller: Controller;
  readonly #runner: Runner;
  readonly #queueMetrics: QueueMetrics;
  readonly #writes: LocalWrites;
  readonly #gaps = new Gaps();
  readonly #counts: LocalCounts;
  readonly #localWatches: ClusterWatches;
  readonly #local: LocalObjects;
  readonly #writer: ObjectWriter;
  readonly #sources: Sources;
  readonly #reconciler: ServiceReconciler;
  /** Whether the local objects were counted since one of them changed. */
  #isSampled = false;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, remotes, log, metrics } = input;
    this.#input = input;
    const client = this.#clientOf(input.local);
    this.#leadership = input.leadership(client);
    this.#writes = new LocalWrites({
      leadership: this.#leadership,
      concurrency: options.writeConcurrency,
      what: 'service',
      remotes: [...settings.remotes.map(({ name }) => name), GLOBAL],
      // A Service and its slice.
      objectsOf: (remote) => 2 * this.#sources.servicesOf(remote),
      perSecond: options.maxRemoteWrites,
      metrics,
      log,
    });
    this.#queueMetrics = new QueueMetrics({ metrics, nameOf: (key) => queueName(key, settings.local.name) });
    this.#counts = new LocalCounts({
      metrics,
      prefixes: new Map(settings.remotes.map(({ name, prefix }) => [name, prefix])),
      local: settings.local.name,
    });
    const localListed = Promise.withResolvers<void>();
    this.#localWatches = new ClusterWatches({ cluster: LOCAL, metrics, log, onFirstSync: localListed.resolve });
    this.#local = this.#newLocal(client);
    this.#writer = new ObjectWriter(client, settings.mirrorNamespace);
    const clientOf = (connection: Connection): KubeClient => this.#clientOf(connection);
    const serviceRanges: Cidr[] = [];
    this.#sources = new Sources({
      settings,
      options,
      client,
      remotes,
      clientOf,
      local: this.#local,
      serviceRanges,
      log,
      metrics,
      onKeys: (keys, since) => this.#enqueue(keys, since),
    });
    this.#reconciler = new ServiceReconciler({
      local: this.#local,
      target: (key) => this.#sources.target(key),
      claimants: (name) => this.#sources.claimants(name),
      sources: (observed) => sourcesOf(observed, this.#sources.prefixes),
      write: changeWriter({
        writes: this.#writes,
        writer: this.#writer,
        local: this.#local,
        gaps: this.#gaps,
        sources: this.#sources,
      }),
      onDiagnostics: (key, diagnostics) => this.#sources.notice(key, diagnostics),
    });
    this.#controller = new Controller({
      // A standby decides nothing: its stores are warm, and every key is looked at when it takes over.
      reconcile: async (key, context) =>
        this.#leadership.isLeader ? this.#reconciler.reconcile(key, context) : { wrote: false },
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      observer: this.#queueMetrics,
      onFailure: (failure) => void this.#writes.failed(failure),
    });
    this.#runner = new Runner({
      local: {
        what: 'the local objects',
        run: (running) => this.#local.run(running),
        listed: localListed.promise,
        isSynced: () => this.#local.synced,
        loops: () => this.#local.loops,
        failure: () => this.#localWatches.failure,
      },
      prepare: async (running) => void serviceRanges.push(...(await localServiceRanges(client, { ...running, log }))),
      watch: (running) => Promise.resolve([this.#sources.run(running)]),
      remotes: () => this.#sources.clusters,
      watched: 'services',
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

  /** Works until `signal` is aborted. */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      this.#leadership.run({
        ...running,
        onStartedLeading: () => {
          this.#enqueue(this.#sources.allKeys(), performance.now());
          void this.#warnOfNoNamespace(running);
        },
        // Its writes are refused from then on, and the next term begins with a look at everything.
        onStoppedLeading: () => undefined,
      }),
      everyPeriod(SAMPLE_MS, () => this.#sample(), running),
    ]);
  }

  /**
   * What `run` would write now, without writing it: the same informers and the same reconcile.
   *
   * @throws Error when the local objects can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    return this.#runner.once(options, async (running) => {
      const changes = [...new Set(this.#sources.allKeys())].toSorted().flatMap((key) => this.#reconciler.plan(key));
      const missingNamespace = (await this.#hasNamespace(running)) ? undefined : this.#input.settings.mirrorNamespace;
      return { missingNamespace, changes, remotes: this.#sources.plan(), orphans: this.#counts.orphans };
    });
  }

  /** Says it before the first write, which may be long in coming. Never rejects. */
  async #warnOfNoNamespace(running: RunOptions): Promise<void> {
    if (await this.#hasNamespace(running)) return;
    const { settings, log } = this.#input;
    const namespace = settings.mirrorNamespace;
    log.warn({ namespace }, 'the mirror namespace is not there: create it, or nothing can be written');
  }

  /** @returns false only where the API server says that the mirror namespace isn't there */
  async #hasNamespace({ signal }: RunOptions): Promise<boolean> {
    if (this.#local.services().length > 0) return true;
    try {
      await this.#writer.checkNamespace({ signal });
    } catch (error) {
      if (error instanceof NoNamespaceError) return false;
      this.#input.log.debug({ error }, 'not known whether the mirror namespace is there');
    }
    return true;
  }

  #clientOf(connection: Connection): KubeClient {
    const { userAgent, metrics, options } = this.#input;
    const onRequest = ({ host, method, code, seconds }: RequestReport): void => {
      metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
      metrics.kubeRequestDuration.observe({ host, method }, seconds);
    };
    return new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  }

  #newLocal(client: KubeClient): LocalObjects {
    const { options, settings } = this.#input;
    return new LocalObjects({
      client,
      namespace: settings.mirrorNamespace,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: () => this.#localWatches.hooks(),
      // What somebody did to an object is put right, but it isn't a remote event: `repairs_total` counts it, `propagation_seconds` doesn't.
      onChange: (name) => this.#enqueue(this.#sources.keysOfName(name)),
      onObject: (watch, { previous, current }) => {
        this.#isSampled = false;
        this.#counts.changed(watch, { previous, current });
        if (watch === 'services' && current === undefined) this.#gaps.ended(previous!.name);
      },
    });
  }

  #sample(): void {
    this.#queueMetrics.sample();
    // Between changes there is nothing to count, and an idle process should not stir.
    if (this.#isSampled) return;
    this.#isSampled = true;
    const { metrics } = this.#input;
    for (const [remote, count] of mirrorsWithoutReadyEndpoints(this.#local, this.#sources.prefixes))
      metrics.mirrorsWithoutReadyEndpoints.set({ remote }, count);
  }

  #enqueue(keys: Iterable<string>, since?: number): void {
    // Before anything is known there is nothing to decide; each cluster enqueues everything once it is.
    if (!this.#local.synced) return;
    for (const key of keys) this.#controller.enqueue(key, since);
  }
}

/** What the Go program called the queue that a key would have been in. */
const queueName = (key: string, local: string): string =>
  key.startsWith(`${GLOBAL}/`) ? `${local}-global-service` : `${key.slice(0, key.indexOf('/'))}-service`;
