import { type AppStatus, everyPeriod, localServiceRanges } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { AddressRules, Cidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import { GLOBAL, mirrorPrefixLabel, parseServiceKey } from '../../names.ts';
import { matchesLabels, parseLabelSelector } from '../../config/label-selector.ts';
import type { MirrorOptions } from '../../config/options.ts';
import { prefixesOf, type Settings } from '../../config/settings.ts';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import { rangeFamilies } from '../../endpoints/desired/families.ts';
import type { Family } from '../../endpoints/desired/source.ts';
import type { LocalObjects } from '../local/objects.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import type { RemotePlan } from '../../plan.ts';
import { SourceCluster, type SourceClusterOptions } from './source-cluster.ts';
import { seedGlobals, seedMirrors } from './seed.ts';
import type { ServiceKeys } from '../service-keys.ts';

export type SourceClustersOptions = Pick<SourceClusterOptions, 'onKeys' | 'onStale'> & {
  readonly settings: Settings;
  readonly options: MirrorOptions;
  /** Of the local cluster, whose Services take part in global ones. */
  readonly client: KubeClient;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly KubeClient[];
  readonly local: Pick<LocalObjects, 'slices' | 'services' | 'serviceNames'>;
  readonly keys: ServiceKeys;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
};

/** All clusters whose Services are mirrored or merged. */
export class SourceClusters {
  readonly #options: SourceClustersOptions;
  readonly #prefixes: ReadonlyMap<string, string>;
  /** Of the local cluster; empty before `readServiceRanges`, or if unknown. */
  readonly serviceRanges: Cidr[] = [];
  /** The remotes, and the local cluster if there are global services. */
  readonly all: readonly SourceCluster[];

  constructor(options: SourceClustersOptions) {
    const { settings, client } = options;
    this.#options = options;
    this.#prefixes = prefixesOf(settings);
    const { mirrorSelector, global, local } = settings;
    const globals = global === undefined ? [] : [{ use: 'global', selector: global.selector } as const];
    const remotes = settings.remotes.map((remote, i) =>
      this.#newCluster(remote.name, {
        remote,
        client: options.remotes[i]!,
        addresses: { allowed: remote.allowedPodCidrs, local: local.cidrs, services: this.serviceRanges },
        selectors: [{ use: 'mirror', selector: mirrorSelector }, ...globals],
      }),
    );
    const anywhere: AddressRules = { allowed: undefined, local: [] };
    const ours = (): SourceCluster =>
      this.#newCluster(local.name, { remote: undefined, client, addresses: anywhere, selectors: globals });
    this.all = global === undefined ? remotes : [...remotes, ours()];
  }

  get(cluster: string): SourceCluster | undefined {
    return this.all.find((each) => each.cluster === cluster);
  }

  /** The remotes that have a part in a global Service now. */
  remotesOfGlobal(key: string): readonly string[] {
    const parsed = parseServiceKey(key);
    if (parsed?.kind !== 'global') return [];
    return this.all
      .filter((each) => this.#prefixes.has(each.cluster))
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
    for (const each of this.all)
      each.diagnose(
        key,
        diagnostics.filter(({ cluster }) => (cluster === GLOBAL ? name : cluster) === each.cluster),
      );
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
    const { remotes, local } = this.#options.settings;
    const statusOf = (cluster: SourceCluster) => cluster.status(this.#mirrorsOf(cluster).length);
    const localServices = this.get(local.name);
    return {
      remotes: remotes.map(({ name, prefix, allowedPodCidrs, staleAfterMs, staleAction }) => {
        const allowedPodCIDRs = allowedPodCidrs?.map(({ text }) => text) ?? null;
        const config = { servicePrefix: prefix, allowedPodCIDRs, staleAfterSeconds: staleAfterMs / 1_000, staleAction };
        return { ...statusOf(this.get(name)!), config };
      }),
      localServices: localServices && statusOf(localServices),
    };
  }

  #mirrorsOf({ cluster }: SourceCluster): readonly string[] {
    const prefix = this.#prefixes.get(cluster);
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

  /** Watches all clusters until `signal` is aborted. To be called once, when the local objects are listed. */
  async run(running: RunOptions): Promise<void> {
    this.#seed();
    await Promise.all([
      ...this.all.map((cluster) => cluster.run(running)),
      ...this.#options.settings.remotes.map(({ name, resyncPeriodMs }) =>
        everyPeriod(resyncPeriodMs, () => this.#options.onKeys(this.get(name)?.keys() ?? []), running),
      ),
    ]);
  }

  #newCluster(
    cluster: string,
    own: Pick<SourceClusterOptions, 'remote' | 'client' | 'addresses' | 'selectors'>,
  ): SourceCluster {
    const { options, settings, keys, log, metrics, onKeys, onStale } = this.#options;
    const isLocalFirst = isLocalFirstOf(settings);
    const onAll = (since?: number): void => onKeys(this.allKeys(), since);
    return new SourceCluster({ ...own, cluster, isLocalFirst, options, keys, log, metrics, onKeys, onStale, onAll });
  }

  #seed(): void {
    const { options, local } = this.#options;
    if (options.deletionGuardPercent === 100) return;
    const observed = { services: local.services(), slices: (name: string) => local.slices(name) };
    for (const each of this.all) {
      const { cluster } = each;
      const prefix = this.#prefixes.get(cluster);
      if (prefix !== undefined) each.seed('mirror', seedMirrors(observed, { cluster, prefix }));
      each.seed('global', seedGlobals(observed, cluster));
    }
  }
}

/** Whether a Service's labels ask for local-first routing. */
function isLocalFirstOf({ global }: Settings): SourceClusterOptions['isLocalFirst'] {
  const selector =
    global?.routingStrategyLabel === undefined ? undefined : parseLabelSelector(global.routingStrategyLabel);
  return (labels) => selector?.ok === true && matchesLabels(selector.value, labels);
}
