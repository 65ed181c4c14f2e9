import { type Diagnostic, skippedIn } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Logger, wordsOf } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../../config/options.ts';
import type { Settings } from '../../config/settings.ts';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import type { LocalImports } from '../local/imports.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import { IMPORT, importClusterLabel, importKey } from '../../names.ts';
import type { SourceClusters } from '../../services/remote/source-clusters.ts';
import type { ExportsPlan } from '../../plan.ts';
import { McsCluster, type McsClusterOptions } from './exporter.ts';
import { seedOf } from './seed.ts';

export type McsClustersOptions = {
  readonly settings: Settings;
  readonly options: MirrorOptions;
  /** Of the local cluster, which exports too. */
  readonly client: KubeClient;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly KubeClient[];
  readonly imports: LocalImports;
  /** The same clusters, for mirrors and global Services. */
  readonly sources: Pick<SourceClusters, 'get' | 'serviceRanges' | 'families'>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  readonly onKeys: (keys: Iterable<string>, since?: number) => void;
};

/** All clusters whose exports are imported: the remotes, and the local one. */
export class McsClusters {
  readonly all: readonly McsCluster[];
  readonly #options: McsClustersOptions;
  readonly #local: McsCluster;
  /** The diagnostics of the local cluster, unless its Services are global. */
  readonly #skipped: ReturnType<typeof skippedIn>;
  #isUnavailable = false;

  constructor(options: McsClustersOptions) {
    const { settings, client, remotes, sources, log, metrics } = options;
    const { local } = settings;
    this.#options = options;
    this.#skipped = skippedIn(local.name, log, metrics.skippedObjects);
    const others = settings.remotes.map((remote, i) =>
      this.#newCluster(remote.name, remotes[i]!, {
        isLocal: false,
        addresses: { allowed: remote.allowedPodCidrs, local: local.cidrs, services: sources.serviceRanges },
      }),
    );
    this.#local = this.#newCluster(local.name, client, { isLocal: true, addresses: { allowed: undefined, local: [] } });
    this.all = [...others, this.#local];
  }

  get(cluster: string): McsCluster | undefined {
    return this.all.find((each) => each.cluster === cluster);
  }

  get local(): McsCluster {
    return this.#local;
  }

  /** Every key that has an export or a local object. */
  keys(): ReadonlySet<string> {
    return new Set([...this.all.flatMap((cluster) => cluster.keys()), ...this.#options.imports.keys()]);
  }

  /** The remotes that have a part in an import now. */
  remotesOf(at: { readonly namespace: string; readonly name: string }): readonly string[] {
    return this.all.filter((each) => each !== this.#local && each.hasPart(at)).map((each) => each.cluster);
  }

  /** What a plan says about each cluster. */
  plan(): readonly ExportsPlan[] {
    const imports = this.#options.imports.imports();
    return this.all.map(({ cluster, synced, held }) => ({
      cluster,
      known: synced,
      heldDeletions: synced ? held : 0,
      imports: imports
        .filter(({ clusters }) => clusters.includes(cluster))
        .map(({ namespace, name }) => `${namespace}/${name}`)
        .toSorted(),
      skipped: this.#options.sources.get(cluster) === undefined ? this.#skipped.all() : [],
    }));
  }

  /** Replaces the diagnostics of a key. Those of an import as a whole are the local cluster's. */
  diagnose(subject: string, diagnostics: readonly ClusterDiagnostic[]): void {
    for (const { cluster } of this.all) {
      const own = diagnostics.filter(
        (each) => (each.cluster === IMPORT ? this.#local.cluster : each.cluster) === cluster,
      );
      this.#setSkipped(cluster, subject, own);
    }
  }

  /** Nothing can be decided, as the local objects can't be listed. */
  unavailable(error: unknown): void {
    const detail = `ServiceImports, Services, EndpointSlices and Namespaces of the local cluster can't be listed: ${wordsOf(error)}`;
    this.#setSkipped(this.#local.cluster, 'imports', [{ kind: 'problem', reason: 'imports-unknown', detail }]);
    this.#isUnavailable = true;
    for (const each of this.all) each.unavailable();
  }

  /** The local objects are listed, maybe not for the first time: then nothing else reports what is missing now. */
  available(): void {
    this.#setSkipped(this.#local.cluster, 'imports', []);
    if (this.#isUnavailable) this.#options.onKeys(this.keys());
    this.#isUnavailable = false;
  }

  /** Watches all clusters until `signal` is aborted. To be called once, when the local imports are listed. */
  async run(running: RunOptions): Promise<void> {
    const { imports, options } = this.#options;
    for (const each of options.deletionGuardPercent === 100 ? [] : this.all) {
      const { exports, services } = seedOf(each.cluster, imports.imports(), (key) => imports.slices(key));
      each.seed(exports, services);
    }
    await Promise.all(this.all.map((cluster) => cluster.run(running)));
  }

  #newCluster(cluster: string, client: KubeClient, rules: McsClusterOptions['rules']): McsCluster {
    const { imports, sources, onKeys } = this.#options;
    return new McsCluster({
      ...this.#options,
      cluster,
      client,
      rules,
      stale: () => sources.get(cluster)?.stale ?? 'no',
      isHere: ({ namespace, name }) =>
        imports.slices(importKey(namespace, name)).some(({ labels }) => labels[importClusterLabel] === cluster),
      onKnown: () => onKeys(this.keys(), performance.now()),
      onSkipped: (subject, skipped) => this.#setSkipped(cluster, subject, skipped),
      onHeld: (held) => sources.get(cluster)?.setHeld(held, 'mcs'),
    });
  }

  #setSkipped(cluster: string, subject: string, skipped: readonly Diagnostic[]): void {
    const source = this.#options.sources.get(cluster);
    if (source === undefined) this.#skipped.replace(subject, skipped);
    else source.diagnose(subject, skipped);
  }
}
