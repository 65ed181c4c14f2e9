import type { RunOptions } from '@kube-semaphore/kube-client';
import type { KeyContext, LeaderController, LocalWrites, PlannedWrite } from '@kube-semaphore/multicluster';
import { ImportReconciler } from './reconciler.ts';
import { LocalImports } from './local/imports.ts';
import { ImportWriter } from './local/import-writer.ts';
import { ImportWrites } from './local/import-writes.ts';
import { plannedImportWrites } from '../services/local/planned-writes.ts';
import type { LocalCounts } from '../metrics/local-counts.ts';
import { importKey } from '../names.ts';
import type { Plan } from '../plan.ts';
import type { McsCluster } from './remote/exporter.ts';
import { McsClusters, type McsClustersOptions } from './remote/exporters.ts';

export type MultiClusterServicesOptions = Omit<McsClustersOptions, 'imports' | 'onKeys'> & {
  readonly onKeys: LeaderController['enqueue'];
  readonly writes: Pick<LocalWrites, 'write'>;
  readonly counts: Pick<LocalCounts, 'importChanged'>;
};

/** Multi-Cluster Services (KEP-1645): makes ServiceImports of the exports of all clusters. Only with `mcs` in the config. */
export class MultiClusterServices {
  readonly #options: MultiClusterServicesOptions;
  readonly #imports: LocalImports;
  readonly #clusters: McsClusters;
  readonly #reconciler: ImportReconciler;

  constructor(options: MultiClusterServicesOptions) {
    const { settings, client, sources, writes, counts, onKeys } = options;
    this.#options = options;
    const imports = new LocalImports({
      ...options,
      // No `since`: a repair doesn't count as propagation.
      onKeys: (keys) => onKeys(keys),
      onParts: (before, after) => counts.importChanged(before, after),
      // What was refused in a namespace may be possible in the next of its name.
      onNamespace: (name) =>
        onKeys(
          [...this.keys()].filter((key) => key.startsWith(importKey(name, ''))),
          undefined,
          { isUrgent: true },
        ),
      onFailure: (error) => this.#clusters.unavailable(error),
      onListed: () => this.#clusters.available(),
    });
    const clusters = new McsClusters({ ...options, imports });
    this.#imports = imports;
    this.#clusters = clusters;
    this.#reconciler = new ImportReconciler({
      settings,
      imports,
      clusters,
      families: () => sources.families,
      writes: new ImportWrites({
        writes,
        writer: new ImportWriter(client),
        imports,
        exports: () => clusters.local.exports,
        remotesOf: (at) => clusters.remotesOf(at),
        remotes: new Set(settings.remotes.map(({ name }) => name)),
      }),
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

  /** The keys of all imports that a cluster exports to. */
  keysOf(cluster: string): readonly string[] {
    return this.#clusters.get(cluster)?.keys() ?? [];
  }

  /** How many exports of a remote are imported. */
  exportsOf(remote: string): number {
    return this.#clusters.get(remote)?.admitted ?? 0;
  }

  reconcile(key: string, context: KeyContext): Promise<void> {
    return this.#reconciler.reconcile(key, context);
  }

  /** What `reconcile` would write now for all keys, what a plan asks about it, and says about each cluster. */
  plan(): Pick<Plan, 'importChanges' | 'exports'> & { readonly writes: readonly PlannedWrite[] } {
    const importChanges = [...this.keys()].toSorted().flatMap((key) => this.#reconciler.plan(key));
    const writes = plannedImportWrites(importChanges, new ImportWriter(this.#options.client));
    return { importChanges, writes, exports: this.#clusters.plan() };
  }

  /** Updates the metrics that no event updates. */
  sample(): void {
    if (this.#imports.isSynced()) this.#options.metrics.mcsImports.set({}, this.#imports.imports().length);
  }

  /** Watches until `signal` is aborted. The exports come after the local imports, which their first lists are measured against. */
  async run(running: RunOptions): Promise<void> {
    const watching = this.#imports.run(running);
    await Promise.race([this.#imports.listed, watching]);
    if (!running.signal.aborted) await this.#clusters.run(running);
    await watching;
  }
}
