import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  Admissions,
  type Diagnostic,
  remoteBudget,
  type RemoteState,
  reportClusterSetId,
} from '@kube-semaphore/multicluster';
import { type Logger, wordsOf } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../../config/options.ts';
import { type ExportPart, exportPart, type ExportPartInput, NO_PART } from '../desired/export-part.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import { importClusterLabel, importKey } from '../../names.ts';
import type { SourceCluster } from '../../services/remote/source-cluster.ts';
import type { LocalImports } from '../local/imports.ts';
import type { SourceExport } from './read-export.ts';
import type { Importer } from '../../endpoints/remote/export-to.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { SliceRules } from '../../endpoints/remote/read-slice.ts';
import { skippedIn, type StoredSlice } from '../../endpoints/remote/slices.ts';
import type { Decisions } from '../../endpoints/decisions.ts';
import type { Part } from '../../endpoints/desired/merged/decision.ts';
import { ExportSource } from './exports.ts';
import { ExportedServices, type ServiceSeed } from './services.ts';

type Name = Pick<SourceExport, 'namespace' | 'name'>;

export type McsClusterOptions = {
  readonly cluster: string;
  readonly client: KubeClient;
  readonly rules: SliceRules;
  /** The local cluster; undefined for its own exports. */
  readonly importer: Importer | undefined;
  readonly options: MirrorOptions;
  readonly log: Logger;
  readonly metrics: Pick<MirrorMetrics, 'clusterIdDiffers' | 'mcsExportsKnown' | 'remoteWatchRestarts'>;
  readonly state: Pick<RemoteState, 'skipped' | 'setHeld'>;
  /** The same cluster for mirrors and global Services; undefined for the local one if its Services aren't global. */
  readonly source: Pick<SourceCluster, 'stale'> | undefined;
  readonly imports: Pick<LocalImports, 'slices'>;
  readonly queue: Pick<Decisions<Part>, 'enqueue' | 'enqueueAll' | 'enqueueSlices'>;
  /** All clusters. */
  readonly clusters: { keys(): Iterable<string> };
};

/** Beside what is held for mirrors and global Services. */
const HELD = 'mcs';

type Watch = 'ServiceExports' | 'Services' | 'EndpointSlices';

/**
 * What one cluster exports. It is unknown until all three lists are complete, so also while the cluster doesn't have
 * ServiceExports (404) or forbids to list them (403). Whether it is reached, the watches for its mirrors report.
 */
export class McsCluster {
  readonly cluster: string;
  readonly exports: ExportSource;
  readonly services: ExportedServices;
  readonly #options: McsClusterOptions;
  readonly #admissions: Admissions;
  readonly #firstSync = Promise.withResolvers<void>();
  /** Why a watch knows nothing, in words. */
  readonly #failures = new Map<Watch, string>();
  #isUnavailable = false;
  #isKnown = false;
  #isRunning = false;

  constructor(cluster: McsClusterOptions) {
    const { rules, options, metrics } = cluster;
    this.#options = cluster;
    this.cluster = cluster.cluster;
    this.#admissions = new Admissions(rules.isLocal ? Infinity : options.maxRemoteServices);
    metrics.mcsExportsKnown.set({ remote: cluster.cluster }, 0);
    // Beside that of the mirrors; the local cluster's own objects have no limit.
    const budget = rules.isLocal ? undefined : remoteBudget(options);
    const common = { ...cluster, budget, isLocal: rules.isLocal, skipped: cluster.state.skipped };
    this.exports = new ExportSource({
      ...common,
      hooks: this.#hooks('ServiceExports'),
      onChange: (at, change) => this.#exportChanged(at, change),
    });
    this.services = new ExportedServices({
      ...common,
      hooks: (what) => this.#hooks(what),
      onChange: (at, { what }) => {
        if (this.exports.export(at.namespace, at.name) === undefined) return;
        if (what === 'service') this.#changed([keyOf(at)]);
        else this.#slicesChanged(keyOf(at));
      },
    });
  }

  /** Whether its exports can be decided about. */
  get synced(): boolean {
    return this.exports.known && this.services.synced;
  }

  /** How many objects are held. */
  get held(): number {
    return this.exports.held + this.services.held;
  }

  /** Whether nothing waits for it: it has no ServiceExports, or forbids to list them. */
  get isForbidden(): boolean {
    return this.#isUnavailable;
  }

  /** Resolves when it is synced, or unavailable. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Milliseconds since its most silent watch was active; 0 before `run`. */
  get silentMs(): number {
    return this.#isRunning ? Math.max(this.exports.silentMs, this.services.silentMs) : 0;
  }

  /** How many of its exports are imported. */
  get admitted(): number {
    return this.#admissions.size;
  }

  /** The keys of all imports that it exports to. */
  keys(): readonly string[] {
    return this.exports.exports().map(keyOf);
  }

  /** Whether it has a part in an import, as far as it is known. */
  hasPart(at: Name): boolean {
    return (
      this.synced &&
      this.exports.export(at.namespace, at.name) !== undefined &&
      !this.#admissions.isWaiting(keyOf(at)) &&
      this.services.service(at.namespace, at.name).definition !== undefined
    );
  }

  /** Its part in an import, as far as it is known. */
  part({ namespace, name }: Name): ExportPart {
    const exported = this.exports.export(namespace, name);
    if (exported === undefined || !this.synced) return NO_PART;
    const { rules, options, source } = this.#options;
    return partOf(
      this.services.slices(namespace, name),
      exported,
      this.cluster,
      rules.isLocal,
      source?.stale ?? 'no',
      this.#admissions.isWaiting(keyOf(exported)) ? options.maxRemoteServices : undefined,
      this.services.service(namespace, name),
    );
  }

  /** Replaces the diagnostics of a key. */
  diagnose(key: string, diagnostics: readonly Diagnostic[]): void {
    this.#options.state.skipped.replace(key, diagnostics);
  }

  /** Measures the first lists against what our imports show. To be called before `run`. */
  seed(exports: readonly SourceExport[], services: ServiceSeed): void {
    this.exports.seed(exports);
    this.services.seed(services);
  }

  /** Nothing is read while the local cluster has no ServiceImports: then nothing waits for this cluster. */
  unavailable(): void {
    this.#isUnavailable = true;
    this.#firstSync.resolve();
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run(running: RunOptions): Promise<void> {
    this.#isRunning = true;
    const { cluster: id, client, rules, log, metrics } = this.#options;
    const report = { client, remote: this, id, log, metric: metrics.clusterIdDiffers };
    await Promise.all([
      this.exports.run(running),
      this.services.run(running),
      ...(rules.isLocal ? [] : [reportClusterSetId(report, running)]),
    ]);
  }

  #exportChanged(at: Name, { isRemoved }: { readonly isRemoved: boolean }): void {
    const key = keyOf(at);
    const next = isRemoved ? this.#admissions.leave(key) : undefined;
    if (!isRemoved) this.#admissions.enter(key, { isHere: this.#isHere(key) });
    this.#changed(next === undefined ? [key] : [key, next]);
  }

  /** Whether an import has a part of it. */
  #isHere(key: string): boolean {
    return this.#options.imports.slices(key).some(({ labels }) => labels[importClusterLabel] === this.cluster);
  }

  #changed(keys: readonly string[]): void {
    this.#countHeld();
    this.#options.queue.enqueue(keys, performance.now(), { cause: this.cluster });
  }

  #slicesChanged(key: string): void {
    this.#countHeld();
    this.#options.queue.enqueueSlices([key], this.cluster, performance.now());
  }

  #countHeld(): void {
    this.#options.state.setHeld(this.held, HELD);
  }

  #hooks(watch: Watch): ReflectorHooks {
    const { cluster, metrics } = this.#options;
    const works = (): void => {
      this.#failures.delete(watch);
      this.#report();
    };
    return {
      onSynced: works,
      // What is known stays so over a failure: then no list follows, but the watch goes on.
      onUp: () => {
        if (this.#isKnown && this.#failures.has(watch)) works();
      },
      onRestart: ({ reason, error }) => {
        metrics.remoteWatchRestarts.inc({ remote: cluster, reason });
        if (error === undefined) return;
        const isUnavailable = [403, 404].includes((error as { status?: number }).status ?? 0);
        if (!isUnavailable && this.#isKnown) return;
        this.#failures.set(watch, `${watch}: ${wordsOf(error)}`);
        if (isUnavailable) this.unavailable();
        this.#report();
      },
    };
  }

  #report(): void {
    const { cluster, metrics, state, queue, clusters } = this.#options;
    const isKnown = this.synced && this.#failures.size === 0;
    metrics.mcsExportsKnown.set({ remote: cluster }, isKnown ? 1 : 0);
    const failures = [...this.#failures.values()].toSorted().join('; ');
    const detail = `its exports are unknown, so what is imported from it stays: ${failures}`;
    state.skipped.replace('exports', failures === '' ? [] : [{ kind: 'problem', reason: 'exports-unknown', detail }]);
    this.#countHeld();
    if (!this.synced || this.#isKnown) return;
    this.#isKnown = true;
    this.#isUnavailable = false;
    this.#firstSync.resolve();
    const now = performance.now();
    queue.enqueue(this.keys(), now);
    queue.enqueueAll(() => clusters.keys(), now);
  }
}

/** Of a change of one of hundreds of clusters, the others make nothing new. */
const partOf = memoize(
  (
    slices: readonly StoredSlice[],
    exported: SourceExport,
    cluster: string,
    isLocal: boolean,
    stale: ExportPartInput['stale'],
    overLimit: number | undefined,
    service: ExportPartInput['service'],
  ): ExportPart => {
    const readings = slices.map((slice) => ({ value: slice.value, skipped: skippedIn(slice) }));
    return exportPart({ exported, cluster, isLocal, stale, overLimit, service, slices: readings });
  },
);

const keyOf = ({ namespace, name }: Name): string => importKey(namespace, name);
