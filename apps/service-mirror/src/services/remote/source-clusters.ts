import {
  type AppStatus,
  Diagnosed,
  everyPeriod,
  familyNames,
  localServiceRanges,
  PerRemote,
  type Remote,
  type Remotes,
  RemoteState,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { AddressRules, Cidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import { GLOBAL, mirrorPrefixLabel, parseServiceKey } from '../../names.ts';
import { matchesLabels, parseLabelSelector } from '../../config/label-selector.ts';
import type { MirrorOptions } from '../../config/options.ts';
import { importerOf, prefixesOf, type RemoteSettings, type Settings } from '../../config/settings.ts';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import { rangeFamilies } from '../../endpoints/desired/families.ts';
import type { Family } from '../../endpoints/desired/source.ts';
import type { ClusterPropertyObjects } from '../../endpoints/remote/cluster-properties.ts';
import type { LocalObjects } from '../local/objects.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import type { RemotePlan } from '../../plan.ts';
import { SourceCluster, type SourceClusterOptions } from './source-cluster.ts';
import { seedGlobals, seedMirrors } from './seed.ts';
import type { ServiceKeys } from '../service-keys.ts';

export type SourceClustersOptions = Pick<SourceClusterOptions, 'queue' | 'onStale'> & {
  readonly settings: Settings;
  readonly options: MirrorOptions;
  /** Of the local cluster, whose Services take part in global ones. */
  readonly client: KubeClient;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly local: Pick<LocalObjects, 'slices' | 'services' | 'serviceNames'>;
  readonly keys: ServiceKeys;
  readonly properties: Pick<ClusterPropertyObjects, 'found'>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
};

/** All clusters whose Services are mirrored or merged. */
export class SourceClusters {
  readonly #options: SourceClustersOptions;
  /** Undefined without global Services. */
  readonly #local: SourceCluster | undefined;
  readonly #clusters: PerRemote<RemoteSettings, SourceCluster>;
  readonly #diagnosed = new Diagnosed();
  /** Of the local cluster; empty before `readServiceRanges`, or if unknown. */
  readonly serviceRanges: Cidr[] = [];

  constructor(options: SourceClustersOptions) {
    const { settings, remotes, keys, queue } = options;
    this.#options = options;
    this.#local = settings.global === undefined ? undefined : this.#localCluster();
    this.#clusters = new PerRemote({
      remotes,
      make: (remote) => this.#remoteCluster(remote),
      // Urgent, so that no write of theirs waits any more.
      drop: (name) => queue.enqueue(keys.forget(name), undefined, { isUrgent: true }),
      always: new Map(this.#local && [[settings.local.name, this.#local]]),
    });
  }

  /** The remotes of the config, and the local cluster if there are global Services. */
  get all(): readonly SourceCluster[] {
    return this.#clusters.all;
  }

  get(cluster: string): SourceCluster | undefined {
    return this.#clusters.get(cluster);
  }

  /** The remotes that have a part in a global Service now. */
  remotesOfGlobal(key: string): readonly string[] {
    const parsed = parseServiceKey(key);
    if (parsed?.kind !== 'global') return [];
    return this.all
      .filter((each) => each !== this.#local)
      .filter((each) => each.source('global')?.service(parsed.namespace, parsed.name) !== undefined)
      .map(({ cluster }) => cluster);
  }

  /** Every key that has a source or a local object. */
  allKeys(): ReadonlySet<string> {
    const { local, keys } = this.#options;
    return new Set([
      ...this.all.flatMap((cluster) => cluster.keys()),
      ...local.serviceNames().flatMap((name) => keys.ofName(name)),
    ]);
  }

  /** Replaces the diagnostics of a key. Those of a global Service as a whole are the local cluster's. */
  diagnose(key: string, diagnostics: readonly ClusterDiagnostic[]): void {
    const { name } = this.#options.settings.local;
    const ofCluster = Map.groupBy(diagnostics, ({ cluster }) => (cluster === GLOBAL ? name : cluster));
    for (const [cluster, own] of this.#diagnosed.replacing(key, ofCluster)) this.get(cluster)?.diagnose(key, own);
  }

  /** Has a plan name slices that aren't watched otherwise. To be called before `run`. */
  findUnlabelled(): void {
    for (const cluster of this.all) cluster.findUnlabelled();
  }

  /** What a plan says about each cluster. */
  plan(): readonly RemotePlan[] {
    return this.all.map((cluster) => ({ ...cluster.plan(), services: this.#mirrorsOf(cluster).toSorted() }));
  }

  /** What `/status` says about the remotes, and about the local cluster as a source of global Services. */
  status(): Pick<AppStatus, 'remotes'> & { readonly localServices: object | undefined } {
    const statusOf = (cluster: SourceCluster) => cluster.status(this.#mirrorsOf(cluster).length);
    return {
      remotes: this.#options.remotes.all.map(({ settings }) => {
        const { name, prefix, families, allowedPodCidrs, mirrorNamespaces = null, gateByTunnel } = settings;
        const { staleAfterMs, staleAction } = settings;
        const allowedPodCIDRs = allowedPodCidrs?.map(({ text }) => text) ?? null;
        const stale = { staleAfterSeconds: staleAfterMs / 1_000, staleAction };
        const limits = { families: familyNames(families), allowedPodCIDRs, mirrorNamespaces };
        const config = { servicePrefix: prefix, ...limits, ...stale, gateByTunnel };
        return { ...statusOf(this.get(name)!), config };
      }),
      localServices: this.#local && statusOf(this.#local),
    };
  }

  #mirrorsOf({ cluster }: SourceCluster): readonly string[] {
    const prefix = prefixesOf(this.#options.remotes).get(cluster);
    if (prefix === undefined) return [];
    const services = this.#options.local.services();
    return services.filter(({ labels }) => labels[mirrorPrefixLabel] === prefix).map(({ name }) => name);
  }

  /** The families that local Services may have; undefined if unknown. */
  get families(): readonly Family[] | undefined {
    return rangeFamilies(this.serviceRanges);
  }

  /** Reads the Service ranges of the local cluster, in which no remote has an endpoint. To be called once, before `run`. */
  async readServiceRanges(running: RunOptions): Promise<void> {
    const { client, log } = this.#options;
    this.serviceRanges.push(...(await localServiceRanges(client, { ...running, log })));
  }

  /** Watches the local cluster until `signal` is aborted. To be called once, when the local objects are listed. */
  async run(running: RunOptions): Promise<void> {
    if (this.#local === undefined) return;
    this.#seed(this.#local);
    await this.#local.run(running);
  }

  /** Watches a remote until `signal` is aborted. To be called when the local objects are listed. */
  async follow({ settings: { name, resyncPeriodMs } }: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    const cluster = this.get(name)!;
    this.#seed(cluster);
    await Promise.all([
      cluster.run(running),
      everyPeriod(resyncPeriodMs, () => this.#options.queue.enqueue(cluster.keys()), running),
    ]);
  }

  #remoteCluster({ settings: remote, client, state }: Remote<RemoteSettings>): SourceCluster {
    const { global, mirrorSelector, local } = this.#options.settings;
    const { families, allowedPodCidrs: allowed } = remote;
    return this.#newCluster(remote.name, {
      remote,
      client,
      state,
      addresses: { families, allowed, local: local.cidrs, services: this.serviceRanges },
      selectors: [{ use: 'mirror', selector: mirrorSelector }, ...selectorOf(global)],
    });
  }

  #localCluster(): SourceCluster {
    const { settings, client, options, metrics, log } = this.#options;
    const { name: cluster } = settings.local;
    const state = new RemoteState({ cluster, client, metrics, log, holdMs: options.deletionGuardHoldMs });
    const addresses: AddressRules = { allowed: undefined, local: [] };
    const selectors = selectorOf(settings.global);
    return this.#newCluster(cluster, { remote: undefined, client, state, addresses, selectors });
  }

  #newCluster(
    cluster: string,
    own: Pick<SourceClusterOptions, 'remote' | 'client' | 'state' | 'addresses' | 'selectors'>,
  ): SourceCluster {
    const { options, settings, keys, metrics, queue, onStale } = this.#options;
    const isLocalFirst = isLocalFirstOf(settings);
    const importer = own.remote && importerOf(settings, this.#options.properties);
    const rules = { isLocalFirst, importer };
    return new SourceCluster({ ...own, ...rules, cluster, options, keys, metrics, queue, onStale, clusters: this });
  }

  #seed(each: SourceCluster): void {
    const { options, local, remotes } = this.#options;
    if (options.deletionGuardPercent === 100) return;
    const observed = { services: local.services(), slices: (name: string) => local.slices(name) };
    const { cluster } = each;
    const prefix = prefixesOf(remotes).get(cluster);
    if (prefix !== undefined) each.seed('mirror', seedMirrors(observed, { cluster, prefix }));
    each.seed('global', seedGlobals(observed, cluster));
  }
}

const selectorOf = (global: Settings['global']): SourceClusterOptions['selectors'] =>
  global === undefined ? [] : [{ use: 'global', selector: global.selector }];

/** Whether a Service's labels ask for local-first routing. */
function isLocalFirstOf({ global }: Settings): SourceClusterOptions['isLocalFirst'] {
  const selector =
    global?.routingStrategyLabel === undefined ? undefined : parseLabelSelector(global.routingStrategyLabel);
  return (labels) => selector?.ok === true && matchesLabels(selector.value, labels);
}
