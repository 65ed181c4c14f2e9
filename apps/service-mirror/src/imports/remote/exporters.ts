import {
  Diagnosed,
  type DiagnosticRegister,
  PerRemote,
  type Remote,
  type Remotes,
  skippedIn,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Logger, wordsOf } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../../config/options.ts';
import { importerOf, type RemoteSettings, type Settings } from '../../config/settings.ts';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import type { ClusterPropertyObjects } from '../../endpoints/remote/cluster-properties.ts';
import type { LocalImports } from '../local/imports.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import { IMPORT } from '../../names.ts';
import type { SourceClusters } from '../../services/remote/source-clusters.ts';
import type { ExportsPlan } from '../../plan.ts';
import { McsCluster, type McsClusterOptions } from './exporter.ts';
import { seedOf } from './seed.ts';

export type McsClustersOptions = {
  readonly settings: Settings;
  readonly options: MirrorOptions;
  /** Of the local cluster, which exports too. */
  readonly client: KubeClient;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly imports: LocalImports;
  /** The same clusters, for mirrors and global Services. */
  readonly sources: Pick<SourceClusters, 'get' | 'serviceRanges' | 'families'>;
  readonly properties: Pick<ClusterPropertyObjects, 'found'>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  readonly queue: McsClusterOptions['queue'];
};

/** All clusters whose exports are imported: the remotes of the config, and the local one. */
export class McsClusters {
  readonly local: McsCluster;
  readonly #options: McsClustersOptions;
  readonly #clusters: PerRemote<RemoteSettings, McsCluster>;
  readonly #diagnosed = new Diagnosed();
  /** The diagnostics of the local cluster. */
  readonly #skipped: DiagnosticRegister;
  #isUnavailable = false;

  constructor(options: McsClustersOptions) {
    const { settings, client, remotes, sources, log, metrics } = options;
    const { name: cluster } = settings.local;
    this.#options = options;
    const state = sources.get(cluster)?.state ?? {
      skipped: skippedIn(cluster, log, metrics.skippedObjects),
      // Where its Services aren't global, no metric counts what is held of it.
      setHeld: () => undefined,
    };
    this.#skipped = state.skipped;
    const rules = { isLocal: true, addresses: { allowed: undefined, local: [] } };
    this.local = this.#newCluster({ cluster, client, state, rules, importer: undefined });
    this.#clusters = new PerRemote({
      remotes,
      make: (remote) => this.#remoteCluster(remote),
      always: new Map([[cluster, this.local]]),
    });
  }

  get all(): readonly McsCluster[] {
    return this.#clusters.all;
  }

  get(cluster: string): McsCluster | undefined {
    return this.#clusters.get(cluster);
  }

  /** Whether a cluster is of the config. */
  has(cluster: string): boolean {
    return this.get(cluster) !== undefined;
  }

  /** Every key that has an export or a local object. */
  keys(): ReadonlySet<string> {
    return new Set([...this.all.flatMap((cluster) => cluster.keys()), ...this.#options.imports.keys()]);
  }

  /** The remotes that have a part in an import now. */
  remotesOf(at: { readonly namespace: string; readonly name: string }): readonly string[] {
    return this.all.filter((each) => each !== this.local && each.hasPart(at)).map((each) => each.cluster);
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
    const ofCluster = Map.groupBy(diagnostics, ({ cluster }) => (cluster === IMPORT ? this.local.cluster : cluster));
    for (const [cluster, own] of this.#diagnosed.replacing(subject, ofCluster))
      this.get(cluster)?.diagnose(subject, own);
  }

  /** Nothing can be decided, as the local objects can't be listed. */
  unavailable(error: unknown): void {
    const detail = `ServiceImports, Services, EndpointSlices and Namespaces of the local cluster can't be listed: ${wordsOf(error)}`;
    this.#skipped.replace('imports', [{ kind: 'problem', reason: 'imports-unknown', detail }]);
    this.#isUnavailable = true;
    for (const each of this.all) each.unavailable();
  }

  /** The local objects are listed, maybe not for the first time: then nothing else reports what is missing now. */
  available(): void {
    this.#skipped.replace('imports', []);
    if (this.#isUnavailable) this.#options.queue.enqueue(this.keys());
    this.#isUnavailable = false;
  }

  /** Watches the local cluster until `signal` is aborted. To be called once, when the local imports are listed. */
  async run(running: RunOptions): Promise<void> {
    this.#seed(this.local);
    await this.local.run(running);
  }

  /** Watches a remote until `signal` is aborted. To be called when the local imports are listed. */
  async follow({ settings: { name } }: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    const cluster = this.get(name)!;
    this.#seed(cluster);
    await cluster.run(running);
  }

  #seed(each: McsCluster): void {
    const { imports, options } = this.#options;
    if (options.deletionGuardPercent === 100) return;
    const { exports, services } = seedOf(each.cluster, imports.imports(), (key) => imports.slices(key));
    each.seed(exports, services);
  }

  #remoteCluster({ settings, client, state }: Remote<RemoteSettings>): McsCluster {
    const { settings: fixed, sources, properties } = this.#options;
    const { families, allowedPodCidrs: allowed } = settings;
    const addresses = { families, allowed, local: fixed.local.cidrs, services: sources.serviceRanges };
    const rules = { isLocal: false, addresses, hasNodes: settings.gateByTunnel };
    const importer = importerOf(fixed, properties);
    const cluster = this.#newCluster({ cluster: settings.name, client, state, rules, importer });
    if (this.#isUnavailable) cluster.unavailable();
    return cluster;
  }

  #newCluster(own: Pick<McsClusterOptions, 'cluster' | 'client' | 'state' | 'rules' | 'importer'>): McsCluster {
    return new McsCluster({ ...this.#options, ...own, source: this.#options.sources.get(own.cluster), clusters: this });
  }
}
