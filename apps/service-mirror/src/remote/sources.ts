import { Admissions, everyPeriod, POLL_INTERVAL_MS, reportRestriction } from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  GLOBAL,
  globalKey,
  globalServiceName,
  mirrorClusterLabel,
  mirrorKey,
  mirrorPrefixLabel,
  mirrorServiceName,
  parseServiceKey,
} from '../names.ts';
import type { Cidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import { Claims } from '../desired/claims.ts';
import { type GlobalSource, globalTarget } from '../desired/global/target.ts';
import { matchesLabels, parseLabelSelector } from '../config/label-selector.ts';
import { keysOfLocalName } from '../desired/local-names.ts';
import type { LocalObjects } from '../local/objects.ts';
import { LocalZones } from '../local/zones.ts';
import type { MirrorMetrics } from '../metrics/metrics.ts';
import { mirrorTarget } from '../desired/mirror-target.ts';
import type { ClusterDiagnostic } from '../desired/diagnostic.ts';
import type { MirrorOptions } from '../config/options.ts';
import type { Plan } from '../plan.ts';
import type { SliceRules } from './read-slice.ts';
import { seedMirrors } from './seed-mirrors.ts';
import { seedGlobals } from './seed-globals.ts';
import type { Target } from '../desired/target.ts';
import type { RemoteSettings, Settings } from '../config/settings.ts';
import { SourceCluster, type SourceClusterOptions, type Use } from './cluster.ts';
import type { SourceService } from '../desired/source.ts';
import type { Stale } from '../desired/global/stale-endpoints.ts';

export type SourcesOptions = {
  readonly settings: Settings;
  readonly options: MirrorOptions;
  /** Of the local cluster, whose Services take part in global ones. */
  readonly client: KubeClient;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly Connection[];
  readonly clientOf: (connection: Connection) => KubeClient;
  readonly local: Pick<LocalObjects, 'service' | 'slices' | 'services' | 'namesWithSlices'>;
  /** Of the local cluster: filled before the remotes are watched. */
  readonly serviceRanges: readonly Cidr[];
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** These keys may need something now. `since`: when that was seen; undefined if it wasn't a source's event. */
  readonly onKeys: (keys: Iterable<string>, since?: number) => void;
};

/** The Services of all clusters, and what follows from them: which keys there are, who has which name, what each wants. */
export class Sources {
  readonly #options: SourcesOptions;
  /** The remotes, and the local cluster if there are global services. */
  readonly clusters: readonly SourceCluster[];
  /** Of the remotes, by cluster. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly #zones: LocalZones | undefined;
  readonly #claims = new Claims();
  /** Keys whose source was seen since the process started. */
  readonly #seen = new Set<string>();
  /** Which Services of a remote have a place here, by cluster and key. */
  readonly #admissions: ReadonlyMap<string, Admissions>;
  /** Remotes that were out of reach for too long. */
  readonly #stale = new Set<string>();

  constructor(options: SourcesOptions) {
    const { settings, remotes, clientOf } = options;
    this.#options = options;
    this.prefixes = new Map(settings.remotes.map(({ name, prefix }) => [name, prefix]));
    this.#admissions = new Map(
      settings.remotes.map(({ name }) => [name, new Admissions(options.options.maxRemoteServices)]),
    );
    const clusters = settings.remotes.map((remote, i) => this.#newRemote(remote, clientOf(remotes[i]!)));
    this.clusters = settings.global === undefined ? clusters : [...clusters, this.#newLocal(settings.global.selector)];
    this.#zones = settings.global === undefined ? undefined : this.#newZones();
  }

  /** Watches all clusters until `signal` is aborted; once, when the local objects are known. */
  async run({ signal }: RunOptions): Promise<void> {
    this.#seed();
    const { remotes } = this.#options.settings;
    await Promise.all([
      ...this.clusters.map((cluster) => cluster.run({ signal })),
      ...(this.#zones === undefined ? [] : [this.#zones.run({ signal })]),
      ...remotes.map((remote) => everyPeriod(staleCheckMs(remote), () => this.#checkStale(remote), { signal })),
      ...remotes.map(({ name, resyncPeriodMs }) =>
        everyPeriod(resyncPeriodMs, () => this.#options.onKeys(this.#keysOfCluster(name)), { signal }),
      ),
    ]);
  }

  /** What a key stands for now; undefined if it is nobody's. */
  target(key: string): Target | undefined {
    const parsed = parseServiceKey(key);
    if (parsed === undefined) return undefined;
    return parsed.kind === 'global' ? this.#globalTarget(key, parsed) : this.#mirrorTarget(key, parsed);
  }

  /** The keys that want a name, the one that has it first. */
  claimants(name: string): readonly string[] {
    return this.#claims.keys(name);
  }

  /** The keys that a local Service of this name may be for. */
  keysOfName(name: string): readonly string[] {
    const claimants = this.#claims.keys(name);
    return claimants.length > 0 ? claimants : keysOfLocalName(name, this.prefixes);
  }

  /** How many Services a remote has here: mirrors, and parts of global ones. */
  servicesOf(remote: string): number {
    return this.#admissions.get(remote)?.size ?? 0;
  }

  /** The remotes that have a part in a global Service now. */
  remotesOfGlobal(key: string): readonly string[] {
    const parsed = parseServiceKey(key);
    if (parsed?.kind !== 'global') return [];
    return this.clusters.flatMap((each) =>
      this.prefixes.has(each.cluster) && each.source('global')?.service(parsed.namespace, parsed.name) !== undefined
        ? [each.cluster]
        : [],
    );
  }

  /** Every key that there is a source or a local object for. */
  allKeys(): readonly string[] {
    const { local } = this.#options;
    const names = [...local.services().map(({ name }) => name), ...local.namesWithSlices()];
    return [
      ...this.clusters.flatMap(({ cluster }) => this.#keysOfCluster(cluster)),
      ...names.flatMap((name) => this.keysOfName(name)),
    ];
  }

  /** What is worth knowing about a key from now on. What concerns a global Service as a whole is the local cluster's. */
  notice(key: string, diagnostics: readonly ClusterDiagnostic[]): void {
    const { name } = this.#options.settings.local;
    for (const each of this.clusters)
      each.notice(
        key,
        diagnostics.filter(({ cluster }) => cluster === each.cluster || (cluster === GLOBAL && each.cluster === name)),
      );
  }

  /** What a plan says of each cluster. */
  plan(): Plan['remotes'] {
    return this.clusters.map((cluster) => {
      const prefix = this.prefixes.get(cluster.cluster);
      const mirrors = this.#options.local
        .services()
        .filter(({ labels }) => prefix !== undefined && labels[mirrorPrefixLabel] === prefix);
      return {
        cluster: cluster.cluster,
        reached: cluster.synced,
        failure: cluster.synced ? undefined : cluster.failure,
        leftOut: !cluster.synced && cluster.isLeftOut,
        heldDeletions: cluster.synced ? cluster.held : 0,
        unmatched: cluster.synced ? cluster.unmatched : [],
        skipped: cluster.skipped,
        services: mirrors.map(({ name }) => name).toSorted(),
      };
    });
  }

  #newRemote(remote: RemoteSettings, client: KubeClient): SourceCluster {
    const {
      settings: { mirrorSelector, global },
      metrics,
      log,
    } = this.#options;
    reportRestriction({ cluster: remote.name, allowed: remote.allowedPodCidrs, metrics, log });
    return this.#newCluster(remote.name, {
      client,
      addresses: {
        allowed: remote.allowedPodCidrs,
        local: this.#options.settings.local.cidrs,
        services: this.#options.serviceRanges,
      },
      isLocal: false,
      selectors: { mirror: mirrorSelector, ...(global !== undefined && { global: global.selector }) },
      onConfirmed: () => this.#checkStale(remote),
    });
  }

  #newLocal(selector: string): SourceCluster {
    const { settings, client } = this.#options;
    return this.#newCluster(settings.local.name, {
      client,
      addresses: { allowed: undefined, local: [] },
      isLocal: true,
      selectors: { global: selector },
      onConfirmed: () => undefined,
    });
  }

  #newCluster(
    cluster: string,
    {
      client,
      addresses,
      isLocal,
      selectors,
      onConfirmed,
    }: Pick<SourceClusterOptions, 'client' | 'selectors'> & SliceRules & { readonly onConfirmed: () => void },
  ): SourceCluster {
    const { options, log, metrics, onKeys } = this.#options;
    return new SourceCluster({
      cluster,
      client,
      options,
      rules: { addresses, isLocal, isLocalFirst: this.#isLocalFirst() },
      selectors,
      log,
      metrics,
      hooks: () => ({ onConfirmed }),
      onService: (uses, change) => this.#serviceChanged(cluster, uses, change),
      onSlices: (uses, namespace, name) =>
        onKeys(
          uses.map((use) => keyOf(use, cluster, { namespace, name })),
          performance.now(),
        ),
      onKnown: () => onKeys(this.allKeys(), performance.now()),
      onSettled: () => onKeys(this.allKeys()),
    });
  }

  #newZones(): LocalZones {
    const { options, settings, client, log, onKeys } = this.#options;
    return new LocalZones({
      configured: settings.local.zones,
      client,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      log,
      onChange: () => onKeys(this.allKeys()),
    });
  }

  #isLocalFirst(): (labels: Readonly<Record<string, string>>) => boolean {
    const label = this.#options.settings.global?.routingStrategyLabel;
    const selector = label === undefined ? undefined : parseLabelSelector(label);
    return (labels) => selector?.ok === true && matchesLabels(selector.value, labels);
  }

  /** Measures the first lists of each cluster against what its local objects show. */
  #seed(): void {
    const { options, local } = this.#options;
    if (options.deletionGuardPercent === 100) return;
    const observed = { services: local.services(), slices: (name: string) => local.slices(name) };
    for (const cluster of this.clusters) {
      const prefix = this.prefixes.get(cluster.cluster);
      if (prefix !== undefined) cluster.seed('mirror', seedMirrors(observed, { cluster: cluster.cluster, prefix }));
      if (cluster.source('global') !== undefined) cluster.seed('global', seedGlobals(observed, cluster.cluster));
    }
  }

  #serviceChanged(
    cluster: string,
    uses: readonly Use[],
    { previous, current }: { previous: SourceService | undefined; current: SourceService | undefined },
  ): void {
    const since = performance.now();
    const { namespace, name } = (current ?? previous)!;
    for (const use of uses) {
      const key = keyOf(use, cluster, { namespace, name });
      const claim = { key, cluster, namespace, name };
      const localName =
        use === 'mirror'
          ? mirrorServiceName(this.prefixes.get(cluster)!, namespace, name)
          : globalServiceName(namespace, name);
      const keys =
        current === undefined
          ? this.#claims.remove(localName, claim)
          : this.#claims.add(localName, { ...claim, createdAt: current.createdAt });
      // What only our own objects tell of hasn't been seen.
      if (current !== undefined && current.uid !== '') this.#seen.add(key);
      const next = this.#admit(cluster, { key, localName, isWanted: current !== undefined });
      this.#options.onKeys(new Set([key, ...keys, ...next]), since);
    }
  }

  /** Lets a Service in, if there is room, or gives the room that it had to another. @returns the key of that one */
  #admit(
    cluster: string,
    { key, localName, isWanted }: { key: string; localName: string; isWanted: boolean },
  ): readonly string[] {
    const admissions = this.#admissions.get(cluster);
    if (admissions === undefined) return [];
    const next = isWanted ? undefined : admissions.leave(key);
    if (isWanted) admissions.enter(key, { isHere: this.#isHere(cluster, key, localName) });
    this.#options.metrics.remoteOverBudget.set({ remote: cluster, budget: 'services' }, admissions.isOver ? 1 : 0);
    return next === undefined ? [] : [next];
  }

  #isHere(cluster: string, key: string, localName: string): boolean {
    const { local } = this.#options;
    if (parseServiceKey(key)?.kind === 'mirror') return local.service(localName) !== undefined;
    return local.slices(localName).some(({ labels }) => labels[mirrorClusterLabel] === cluster);
  }

  /** Notices about the clusters whose part in a key is left out, for they have too many. */
  #leftOut(key: string, cluster: string): readonly ClusterDiagnostic[] {
    if (this.#admissions.get(cluster)?.isWaiting(key) !== true) return [];
    const detail = `the remote has its ${this.#options.options.maxRemoteServices} services here (-max-remote-services), and gets no other`;
    return [{ cluster, kind: 'problem', reason: 'over-budget', detail }];
  }

  #mirrorTarget(key: string, of: { cluster: string; namespace: string; name: string }): Target | undefined {
    const cluster = this.clusters.find((each) => each.cluster === of.cluster);
    const source = cluster?.source('mirror');
    const prefix = this.prefixes.get(of.cluster);
    if (source === undefined || prefix === undefined) return undefined;
    const keepsStale = !this.#options.settings.serviceSync && !this.#seen.has(key);
    const target = mirrorTarget(of, {
      cluster: of.cluster,
      prefix,
      mirrorNamespace: this.#options.settings.mirrorNamespace,
      source,
      prefixes: [...this.prefixes.values()],
      keepsStale,
      keepsEndpoints: !cluster!.settled,
    });
    const leftOut = this.#leftOut(key, of.cluster);
    return leftOut.length === 0 ? target : { ...target, wanted: 'unknown', diagnostics: leftOut };
  }

  #globalTarget(key: string, of: { namespace: string; name: string }): Target | undefined {
    const { local, settings } = this.#options;
    if (settings.global === undefined) return undefined;
    const leftOut = this.clusters.flatMap(({ cluster }) => this.#leftOut(key, cluster));
    const clusters = this.clusters.flatMap((each): GlobalSource[] => {
      const all = each.source('global');
      if (all === undefined) return [];
      const isLeftOut = leftOut.some(({ cluster }) => cluster === each.cluster);
      const source = isLeftOut ? { known: all.known, service: () => undefined, slices: () => [] } : all;
      return [
        {
          cluster: each.cluster,
          isLocal: each.cluster === settings.local.name,
          stale: this.#staleness(each.cluster),
          source,
        },
      ];
    });
    const keepsStale = !settings.global.slicesSync && !this.#seen.has(key);
    const {
      mirrorNamespace,
      global: { hints },
    } = settings;
    const target = globalTarget(of, {
      clusters,
      local,
      mirrorNamespace,
      keepsStale,
      hints,
      zones: this.#zones?.zones ?? [],
    });
    return { ...target, diagnostics: [...leftOut, ...target.diagnostics] };
  }

  #staleness(cluster: string): Stale {
    const action = this.#options.settings.remotes.find(({ name }) => name === cluster)?.staleAction;
    return action === undefined || action === 'keep' || !this.#stale.has(cluster) ? 'no' : action;
  }

  /** A remote that is out of reach for too long is stale, and is so no more as soon as it answers. */
  #checkStale({ name, staleAfterMs, staleAction }: RemoteSettings): void {
    const cluster = this.clusters.find((each) => each.cluster === name);
    if (cluster === undefined || staleAfterMs === 0) return;
    const isStale = !cluster.isUp && cluster.unseenMs > staleAfterMs;
    if (isStale === this.#stale.has(name)) return;
    if (isStale) this.#stale.add(name);
    else this.#stale.delete(name);
    this.#options.log.warn(
      { cluster: name, staleAction },
      isStale ? 'not seen for too long, and so stale in global services' : 'seen again, and stale no more',
    );
    this.#options.onKeys(this.#keysOfCluster(name), performance.now());
  }

  #keysOfCluster(name: string): readonly string[] {
    const cluster = this.clusters.find((each) => each.cluster === name);
    return (['mirror', 'global'] as const).flatMap((use) =>
      (cluster?.source(use)?.services() ?? []).map((service) => keyOf(use, name, service)),
    );
  }
}

const keyOf = (use: Use, cluster: string, { namespace, name }: { namespace: string; name: string }): string =>
  use === 'mirror' ? mirrorKey(cluster, namespace, name) : globalKey(namespace, name);

/** Often enough that nobody waits much longer than was asked for. */
const staleCheckMs = ({ staleAfterMs }: RemoteSettings): number => Math.min(1_000, staleAfterMs / 4);
