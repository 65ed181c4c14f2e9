import { once } from 'node:events';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type {
  Feature,
  KeyContext,
  Leader,
  LocalWrites,
  PlannedWrite,
  Remote,
  Remotes,
} from '@kube-semaphore/multicluster';
import { ImportReconciler, type ImportReconcilerOptions } from './reconciler.ts';
import { LocalImports } from './local/imports.ts';
import { ImportWriter } from './local/import-writer.ts';
import { ImportWrites } from './local/import-writes.ts';
import { plannedImportWrites } from '../services/local/planned-writes.ts';
import { type OrderedService, RoutingStates } from '../endpoints/routing-states.ts';
import { Decisions } from '../endpoints/decisions.ts';
import { Accounts } from '../endpoints/local/accounts.ts';
import type { Exporter } from './desired/import.ts';
import type { RemoteSettings } from '../config/settings.ts';
import type { LocalCounts } from '../metrics/local-counts.ts';
import type { QueueMetrics } from '../metrics/queue.ts';
import { importKey, parseImportKey } from '../names.ts';
import type { Plan } from '../plan.ts';
import type { McsCluster } from './remote/exporter.ts';
import { McsClusters, type McsClustersOptions } from './remote/exporters.ts';

export type MultiClusterServicesOptions = Omit<McsClustersOptions, 'imports' | 'remotes' | 'queue'> &
  Pick<ImportReconcilerOptions, 'zones' | 'properties' | 'drains' | 'tunnels'> & {
    readonly leader: Pick<Leader, 'queue'>;
    readonly observer: QueueMetrics;
    readonly remotes: Pick<Remotes<RemoteSettings>, 'all' | 'byName'>;
    readonly writes: Pick<LocalWrites, 'write' | 'failed'>;
    readonly counts: Pick<LocalCounts, 'importChanged'>;
  };

/** Multi-Cluster Services (KEP-1645): makes ServiceImports of the exports of all clusters. Only with `mcs` in the config. */
export class MultiClusterServices implements Feature {
  readonly #options: MultiClusterServicesOptions;
  readonly #queue: Decisions<Exporter>;
  readonly #states = new RoutingStates();
  readonly #imports: LocalImports;
  readonly #clusters: McsClusters;
  readonly #accounts: Accounts;
  readonly #reconciler: ImportReconciler;

  constructor(options: MultiClusterServicesOptions) {
    const { client, sources, remotes, writes, leader, observer } = options;
    this.#options = options;
    const queue = new Decisions<Exporter>(leader.queue(this, { observer }));
    this.#queue = queue;
    const imports = new LocalImports({
      ...options,
      queue,
      // What was refused in a namespace may be possible in the next of its name.
      onNamespace: (name) =>
        queue.enqueue(
          [...this.keys()].filter((key) => key.startsWith(importKey(name, ''))),
          undefined,
          { isUrgent: true },
        ),
      onFailure: (error) => this.#clusters.unavailable(error),
      onListed: () => this.#clusters.available(),
    });
    const clusters = new McsClusters({ ...options, queue, imports });
    this.#imports = imports;
    this.#clusters = clusters;
    const accounts = new Accounts({
      remotes: remotes.byName,
      sharersOf: (key) => clusters.remotesOf(parseImportKey(key)!),
    });
    this.#accounts = accounts;
    const writer = new ImportWriter(client);
    this.#reconciler = new ImportReconciler({
      ...options,
      states: this.#states,
      decisions: queue,
      imports,
      clusters,
      families: () => sources.families,
      writes: new ImportWrites({ writes, writer, imports, clusters, remotes, accounts }),
    });
  }

  /** The clusters, for readiness and liveness. */
  get clusters(): readonly McsCluster[] {
    return this.#clusters.all;
  }

  /** Every key that has an export or a local object. */
  keys(): ReadonlySet<string> {
    return this.#clusters.keys();
  }

  startLeading(): void {
    this.enqueueAll(performance.now());
  }

  failed(failure: Parameters<Feature['failed']>[0]): void {
    this.#options.writes.failed(failure, 'import');
  }

  reconcile(key: string, context: KeyContext): Promise<void> {
    return this.#accounts.during(key, context.writes, () => this.#reconciler.reconcile(key, context));
  }

  /** @param since as `ReconcileContext.since` */
  enqueueAll(since?: number): void {
    this.#queue.enqueue(this.keys(), since);
  }

  /** The same, as `LeaderQueue.enqueueAll`. */
  enqueueAllSoon(): void {
    this.#queue.enqueueAll(() => this.keys());
  }

  /** Enqueues all imports that a cluster exports to. */
  enqueueExportsOf(cluster: string): void {
    this.#queue.enqueue(this.#clusters.get(cluster)?.keys() ?? []);
  }

  /** How many exports of a remote are imported. */
  exportsOf(remote: string): number {
    return this.#clusters.get(remote)?.admitted ?? 0;
  }

  /** The imports with an order of clusters. */
  get ordered(): readonly OrderedService[] {
    return this.#states.services();
  }

  /** What reconciles would write now for all keys, what a plan asks about it, and says about each cluster. */
  plan(): Pick<Plan, 'importChanges' | 'exports'> & { readonly writes: readonly PlannedWrite[] } {
    const importChanges = [...this.keys()].toSorted().flatMap((key) => this.#reconciler.plan(key));
    const writes = plannedImportWrites(importChanges, new ImportWriter(this.#options.client));
    return { importChanges, writes, exports: this.#clusters.plan() };
  }

  /** Updates the metrics that no event updates. */
  sample(): void {
    if (this.#imports.isSynced()) this.#options.metrics.mcsImports.set({}, this.#imports.imports().length);
  }

  /** The clusters that have a part in a local object, for each object. */
  parts(): readonly (readonly string[])[] {
    return this.#imports.parts();
  }

  /**
   * Watches the local cluster until `signal` is aborted. Its exports come after its imports, which their first list is measured
   * against.
   */
  async run(running: RunOptions): Promise<void> {
    const watching = Promise.all([this.#imports.run(running), this.#states.run(this.#queue, running)]);
    await Promise.race([this.#imports.listed, watching]);
    if (!running.signal.aborted) await this.#clusters.run(running);
    await watching;
  }

  /** Watches a remote until `signal` is aborted, once the local imports are listed. */
  async follow(remote: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    const { signal } = running;
    if (!signal.aborted) await Promise.race([this.#imports.listed, once(signal, 'abort')]);
    if (!signal.aborted) await this.#clusters.follow(remote, running);
  }
}
