import { Store } from '@kube-semaphore/informers';
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
  type UnknownCluster,
  unknownClusters,
} from '@kube-semaphore/network-policies';
import { type CompanionCount, CompanionCounts } from './companion-counts.ts';
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
  readonly companion?: ObservedCompanion;
  /** The cluster of a companion that isn't in the config. */
  readonly orphan?: string;
  /** Cluster ids that it names and that are not configured. */
  readonly unknown?: readonly UnknownCluster[];
  /** What it says in vain. */
  readonly diagnostics?: readonly PolicyDiagnostic[];
  /** Which version of the source it is. */
  readonly generation?: number;
  /** It is too large to be read, so whether it reaches other clusters is unknown. */
  readonly isUnread?: true;
};

export type LocalNetworkPoliciesOptions = {
  readonly ids: ClusterIds;
  readonly sink: Sink;
  /** Names of the remotes in the config: a companion for another one isn't ours. */
  readonly clusters: ReadonlySet<string>;
  /** The source `namespace/name` changed, or one of its companions, and not by a write of ours alone. */
  readonly onChange: (source: string, event: { readonly isSource: boolean }) => void;
  readonly onCount: (remote: string, count: CompanionCount) => void;
  /** How many companions a cluster has that isn't in the config. */
  readonly onOrphans: (cluster: string, count: number) => void;
  /** How many clusters are named by some policy, and not configured. */
  readonly onUnknownClusters: (count: number) => void;
  /** What the NetworkPolicy `namespace/name` says in vain now. */
  readonly onDiagnostics: (key: string, diagnostics: readonly PolicyDiagnostic[]) => void;
};

/** The NetworkPolicies of the local cluster: sources and their companions, both by `namespace/name` of the source. */
export class LocalNetworkPolicies {
  readonly store: Store<LocalPolicy>;
  readonly #options: LocalNetworkPoliciesOptions;
  readonly #sources = new Map<string, CrossClusterPolicy>();
  /** Of every sink. */
  readonly companions = new CompanionIndex();
  readonly ownWrites = new OwnWrites();
  readonly #counts: CompanionCounts;
  /** Of every NetworkPolicy that isn't a companion. */
  readonly #generations = new Map<string, number>();
  /** How many companions each cluster has that is not configured. */
  readonly #orphans = new Map<string, number>();
  /** How many policies name each cluster that is not configured. */
  readonly #unknown = new Map<string, number>();
  /** Undefined until the local Namespaces are listed. */
  #localValues: LocalValues | undefined;
  /** Of the sources and of policies with diagnostics of their own. */
  readonly #diagnosed = new Map<string, Pick<LocalPolicy, 'crossCluster' | 'diagnostics'>>();

  constructor(options: LocalNetworkPoliciesOptions) {
    this.#options = options;
    this.#counts = new CompanionCounts(options.onCount);
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
      .flatMap(([key, { rules }]) => rules.map((rule) => openRuleOf(key, rule, this.#options.ids)))
      .filter(({ isOpen, isOpenHere }) => isOpen || isOpenHere);
  }

  /** How many companions a remote has. */
  count(remote: string): number {
    return this.#counts.of(remote).companions;
  }

  /** Every source, and every former one that still has companions. */
  keys(): Iterable<string> {
    return new Set([...this.#sources.keys(), ...this.companions.sources()]);
  }

  /** Whether a NetworkPolicy that is no companion of this source has a name in the namespace of the source. */
  isTaken(source: string, name: string): boolean {
    const { view } = this.store;
    const policy = view.synced ? view.objects.get(`${source.slice(0, source.indexOf('/'))}/${name}`) : undefined;
    return policy !== undefined && (policy.companion === undefined || sourceKeyOf(policy.companion) !== source);
  }

  /** The local Namespaces have these values of the cluster label. */
  setLocalValues(values: LocalValues): void {
    this.#localValues = values;
    for (const key of this.#diagnosed.keys()) this.#diagnose(key);
  }

  /** What the store keeps of a NetworkPolicy. */
  read(object: NetworkPolicy): LocalPolicy {
    const { uid, resourceVersion, generation } = object.metadata;
    if (isCompanion(object)) {
      const companion = observedCompanion(object);
      return { uid, resourceVersion, ...this.ownOrOrphan(companion) };
    }
    const { ids, sink } = this.#options;
    const rules = crossClusterRules(object.spec, ids.key);
    const unknown = unknownClusters(rules, ids);
    const source = sourceOf(object);
    const diagnostics = [
      ...policyDiagnostics(object.spec, ids.key, unknown),
      ...selectorDiagnostics(rules, source, sink),
    ];
    const about = diagnostics.length === 0 ? {} : { unknown, diagnostics };
    if (rules.length === 0) return { uid, resourceVersion, generation, ...about };
    return { uid, resourceVersion, generation, crossCluster: { source, rules }, ...about };
  }

  readTooLarge({ metadata: { uid, resourceVersion } }: TooLarge): LocalPolicy {
    return { uid, resourceVersion, isUnread: true };
  }

  #changed(key: string, previous: LocalPolicy | undefined, current: LocalPolicy | undefined): void {
    const { onChange, onDiagnostics } = this.#options;
    if (current?.diagnostics !== undefined || current?.crossCluster !== undefined) {
      this.#diagnosed.set(key, current);
      this.#diagnose(key);
    } else if (this.#diagnosed.delete(key)) onDiagnostics(key, []);
    this.#countUnknown(previous?.unknown, -1);
    this.#countUnknown(current?.unknown, +1);
    if (current?.crossCluster === undefined) this.#sources.delete(key);
    else this.#sources.set(key, current.crossCluster);
    const [was, is] = [previous?.crossCluster?.source, current?.crossCluster?.source];
    // Of its metadata, nothing else matters. What others write there must not end the backoff of the key.
    if (was?.uid !== is?.uid || was?.generation !== is?.generation) onChange(key, { isSource: true });
    if (current?.generation === undefined) this.#generations.delete(key);
    else this.#generations.set(key, current.generation);
    this.#count(key);
    this.companionChanged(previous, current);
  }

  /** Another process may serve the cluster of an orphan. Only policies are counted, not their groups of addresses. */
  ownOrOrphan(companion: ObservedCompanion): Pick<LocalPolicy, 'companion' | 'orphan'> {
    if (this.#options.clusters.has(companion.remote)) return { companion };
    return companion.part === 'group' ? {} : { orphan: companion.remote };
  }

  /** An object of a companion came, changed, or went. */
  companionChanged(
    { companion: previous, orphan: was }: Pick<LocalPolicy, 'companion' | 'orphan'> = {},
    { companion: current, orphan }: Pick<LocalPolicy, 'companion' | 'orphan'> = {},
  ): void {
    if (was !== undefined) this.#countOrphan(was, -1);
    if (orphan !== undefined) this.#countOrphan(orphan, +1);
    const sources = this.companions.replace(previous, current);
    for (const source of sources) this.#count(source);
    if (this.ownWrites.caused(previous, current)) return;
    for (const source of sources) this.#options.onChange(source, { isSource: false });
  }

  #count(source: string): void {
    this.#counts.replace(source, this.companions.companionsOf(source), this.#generations.get(source));
  }

  #countOrphan(cluster: string, step: 1 | -1): void {
    const count = (this.#orphans.get(cluster) ?? 0) + step;
    this.#orphans.set(cluster, count);
    this.#options.onOrphans(cluster, count);
  }

  #diagnose(key: string): void {
    const { crossCluster, diagnostics = [] } = this.#diagnosed.get(key)!;
    const { ids, onDiagnostics } = this.#options;
    const rules = crossCluster?.rules ?? [];
    const ofLocalHalf = this.#localValues === undefined ? [] : localHalfDiagnostics(rules, ids, this.#localValues);
    onDiagnostics(key, [...diagnostics, ...ofLocalHalf]);
  }

  #countUnknown(clusters: readonly UnknownCluster[] = [], step: 1 | -1): void {
    if (clusters.length === 0) return;
    for (const { cluster } of clusters) {
      const count = (this.#unknown.get(cluster) ?? 0) + step;
      if (count === 0) this.#unknown.delete(cluster);
      else this.#unknown.set(cluster, count);
    }
    this.#options.onUnknownClusters(this.#unknown.size);
  }
}
