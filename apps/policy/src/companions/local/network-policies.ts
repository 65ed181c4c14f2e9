import { Store } from '@kube-semaphore/informers';
import type { DiagnosticRegister, Remotes } from '@kube-semaphore/multicluster';
import type { NetworkPolicy, TooLarge } from '@kube-semaphore/kube-objects';
import {
  type ClusterIds,
  type CrossClusterRule,
  crossClusterRules,
  isCompanion,
  localHalfDiagnostics,
  type LocalValues,
  type ObservedCompanion,
  observedCompanion,
  type OpenRule,
  openRuleOf,
  type PolicyDiagnostic,
  policyDiagnostics,
  selectorDiagnostics,
  type Sink,
  type Source,
  sourceKeyOf,
  sourceOf,
  unknownClusterDiagnostic,
  unknownClusters,
} from '@kube-semaphore/network-policies';
import type { RemoteSettings } from '../../config/settings.ts';
import type { ObjectCounts } from '../../local/object-counts.ts';
import type { PolicyMetrics } from '../../metrics.ts';
import { CompanionCounts, type CompanionCountsOptions } from './companion-counts.ts';
import { CompanionIndex } from './companion-index.ts';
import { OwnWrites } from './own-writes.ts';

/** A NetworkPolicy with rules that reach other clusters. */
export type CrossClusterPolicy = { readonly source: Source; readonly rules: readonly CrossClusterRule[] };

/**
 * What the store keeps of a NetworkPolicy. Of one that neither reaches other clusters nor is a companion of ours, only the
 * name matters.
 */
type LocalPolicy = {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly crossCluster?: CrossClusterPolicy;
  /** Of a remote, or an orphan. */
  readonly companion?: ObservedCompanion;
  /** What of it has no effect, whatever clusters there are. */
  readonly diagnostics?: readonly PolicyDiagnostic[];
  /** Which version of the source it is. */
  readonly generation?: number;
  /** It is too large to be read, so whether it reaches other clusters is unknown. */
  readonly isUnread?: true;
};

export type LocalNetworkPoliciesOptions = {
  readonly ids: ClusterIds;
  readonly sink: Sink;
  /** A companion for another cluster isn't ours. */
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
  readonly counts: Pick<ObjectCounts, 'count'>;
  readonly metrics: CompanionCountsOptions['metrics'] & {
    readonly unknownClusters: Pick<PolicyMetrics['unknownClusters'], 'set'>;
  };
  /** Of the local cluster. */
  readonly skipped: Pick<DiagnosticRegister, 'replace'>;
  /** The source `namespace/name` changed, or one of its companions, and not by a write of ours alone. */
  readonly onChange: (source: string, event: { readonly isSource: boolean }) => void;
};

/** The NetworkPolicies of the local cluster: sources and their companions, both by `namespace/name` of the source. */
export class LocalNetworkPolicies {
  readonly store: Store<LocalPolicy>;
  readonly #options: LocalNetworkPoliciesOptions;
  #ids: ClusterIds;
  readonly #sources = new Map<string, CrossClusterPolicy>();
  /** Of every sink. */
  readonly companions = new CompanionIndex();
  readonly ownWrites = new OwnWrites();
  readonly #counts: CompanionCounts;
  /** Of every NetworkPolicy that isn't a companion. */
  readonly #generations = new Map<string, number>();
  /** The clusters that each policy names and that are not configured. */
  readonly #unknownOf = new Map<string, readonly string[]>();
  /** How many policies name each of them. */
  readonly #unknown = new Map<string, number>();
  /** Undefined until the local Namespaces are listed. */
  #localValues: LocalValues | undefined;
  /** Of the sources and of policies with diagnostics of their own. */
  readonly #diagnosed = new Map<string, Pick<LocalPolicy, 'crossCluster' | 'diagnostics'>>();

  constructor(options: LocalNetworkPoliciesOptions) {
    this.#options = options;
    this.#ids = options.ids;
    this.#counts = new CompanionCounts(options);
    this.store = new Store<LocalPolicy>({
      // A new version may need a write, whatever it changed.
      equal: (a, b) => a.resourceVersion === b.resourceVersion,
      onChange: ({ key, previous, current }) => this.#changed(key, previous, current),
    });
  }

  get synced(): boolean {
    return this.store.view.synced;
  }

  /** Undefined if there is no such NetworkPolicy, or it doesn't reach other clusters. */
  source(key: string): CrossClusterPolicy | undefined {
    return this.#sources.get(key);
  }

  /** Whether nothing can be decided about the companions of a NetworkPolicy, as it couldn't be read. */
  isUnread(key: string): boolean {
    const { view } = this.store;
    return !view.synced || view.objects.get(key)?.isUnread === true;
  }

  /** Rules that reach more than the clusters that they name, sorted by their policy. */
  openRules(): readonly OpenRule[] {
    return [...this.#sources]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([key, { rules }]) => rules.map((rule) => openRuleOf(key, rule, this.#ids)))
      .filter(({ isOpen, isOpenHere }) => isOpen || isOpenHere);
  }

  /** How many companions a remote has. */
  count(remote: string): number {
    return this.#counts.of(remote).companions;
  }

  /** Every source, and every former one that still has companions, also orphans. */
  keys(): Iterable<string> {
    return new Set([...this.#sources.keys(), ...this.companions.sources()]);
  }

  /** Whether a NetworkPolicy that is no companion of this source has a name in the namespace of the source. */
  isTaken(source: string, name: string): boolean {
    const { view } = this.store;
    const policy = view.synced ? view.objects.get(`${source.slice(0, source.indexOf('/'))}/${name}`) : undefined;
    return policy !== undefined && (policy.companion === undefined || !this.isOf(source, policy.companion));
  }

  /** Whether an object is of a companion of this source, and no orphan. */
  isOf(source: string, companion: ObservedCompanion): boolean {
    return this.#options.remotes.byName.has(companion.remote) && sourceKeyOf(companion) === source;
  }

  /** The config changed. @param ids as they are now */
  configChanged(ids: ClusterIds): void {
    this.#ids = ids;
    this.#counts.report();
    for (const key of this.#diagnosed.keys()) this.#diagnose(key);
  }

  /** The local Namespaces have these values of the cluster label. */
  setLocalValues(values: LocalValues): void {
    this.#localValues = values;
    for (const key of this.#diagnosed.keys()) this.#diagnose(key);
  }

  /** What the store keeps of a NetworkPolicy. */
  read(object: NetworkPolicy): LocalPolicy {
    const { uid, resourceVersion, generation } = object.metadata;
    if (isCompanion(object)) return { uid, resourceVersion, companion: observedCompanion(object) };
    const { key } = this.#ids;
    const rules = crossClusterRules(object.spec, key);
    const source = sourceOf(object);
    const diagnostics = [
      ...policyDiagnostics(object.spec, key),
      ...selectorDiagnostics(rules, source, this.#options.sink),
    ];
    const about = diagnostics.length === 0 ? {} : { diagnostics };
    if (rules.length === 0) return { uid, resourceVersion, generation, ...about };
    return { uid, resourceVersion, generation, crossCluster: { source, rules }, ...about };
  }

  readTooLarge({ metadata: { uid, resourceVersion } }: TooLarge): LocalPolicy {
    return { uid, resourceVersion, isUnread: true };
  }

  #changed(key: string, previous: LocalPolicy | undefined, current: LocalPolicy | undefined): void {
    const { onChange } = this.#options;
    const isDiagnosed = current?.diagnostics !== undefined || current?.crossCluster !== undefined;
    if (isDiagnosed) this.#diagnosed.set(key, current);
    if (isDiagnosed || this.#diagnosed.delete(key)) this.#diagnose(key);
    if (current?.crossCluster === undefined) this.#sources.delete(key);
    else this.#sources.set(key, current.crossCluster);
    const [was, is] = [previous?.crossCluster?.source, current?.crossCluster?.source];
    // Of its metadata, nothing else matters. What others write there must not end the backoff of the key.
    if (was?.uid !== is?.uid || was?.generation !== is?.generation) onChange(key, { isSource: true });
    if (current?.generation === undefined) this.#generations.delete(key);
    else this.#generations.set(key, current.generation);
    this.#count(key);
    this.companionChanged(previous?.companion, current?.companion);
  }

  /** An object of a companion came, changed, or went. */
  companionChanged(previous: ObservedCompanion | undefined, current: ObservedCompanion | undefined): void {
    this.#countObject(previous, -1);
    this.#countObject(current, +1);
    for (const source of this.companions.replace(previous, current)) this.#count(source);
    if (this.ownWrites.caused(previous, current)) return;
    const { remotes, onChange } = this.#options;
    const ours = [previous, current].filter((each) => each !== undefined && remotes.byName.has(each.remote));
    for (const source of new Set(ours.map((each) => sourceKeyOf(each!)))) onChange(source, { isSource: false });
  }

  #count(source: string): void {
    this.#counts.replace(source, this.companions.companionsOf(source), this.#generations.get(source));
  }

  /** Only policies are counted, not their groups of addresses. */
  #countObject(companion: ObservedCompanion | undefined, step: 1 | -1): void {
    if (companion !== undefined && companion.part !== 'group') this.#options.counts.count(companion.remote, step);
  }

  /** What of a policy has no effect now; nothing if it is gone. */
  #diagnose(key: string): void {
    const { crossCluster, diagnostics = [] } = this.#diagnosed.get(key) ?? {};
    const rules = crossCluster?.rules ?? [];
    const unknown = unknownClusters(rules, this.#ids);
    this.#setUnknown(
      key,
      unknown.map(({ cluster }) => cluster),
    );
    const ofLocalHalf =
      this.#localValues === undefined ? [] : localHalfDiagnostics(rules, this.#ids, this.#localValues);
    const all = [...unknown.map(unknownClusterDiagnostic), ...diagnostics, ...ofLocalHalf];
    this.#options.skipped.replace(`NetworkPolicy ${key}`, all);
  }

  #setUnknown(key: string, clusters: readonly string[]): void {
    const before = this.#unknownOf.get(key) ?? [];
    if (before.length === 0 && clusters.length === 0) return;
    if (clusters.length === 0) this.#unknownOf.delete(key);
    else this.#unknownOf.set(key, clusters);
    for (const cluster of clusters) this.#unknown.set(cluster, (this.#unknown.get(cluster) ?? 0) + 1);
    for (const cluster of before) {
      const count = this.#unknown.get(cluster)! - 1;
      if (count === 0) this.#unknown.delete(cluster);
      else this.#unknown.set(cluster, count);
    }
    this.#options.metrics.unknownClusters.set({}, this.#unknown.size);
  }
}
