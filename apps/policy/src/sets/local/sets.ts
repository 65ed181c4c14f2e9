import { type Reflector, Store } from '@kube-semaphore/informers';
import type { GlobalNetworkSet, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { ObjectCounts } from '../../local/object-counts.ts';
import { setKeyOfName } from '../../names.ts';
import { isSameSet, type ObservedSet, observedSet } from '../desired/network-set.ts';
import { clusterOf, keysOf } from '../desired/ownership.ts';
import { domainsWith, type Identity } from '../desired/labels.ts';

/** What the store keeps of a set: without nets if it isn't ours, as only its name matters. */
type LocalSet = {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly set: ObservedSet;
  /** As of `clusterOf`. The config may have the cluster, or get it later. */
  readonly cluster: string | undefined;
};

/** Keeps the store equal to the local cluster. */
export type LocalSetReflector = Reflector<ReturnType<typeof globalNetworkSetKind>, LocalSet>;

/** A set of ours, and the cluster that it is for: a remote, or another one if it is an orphan. */
export type OwnSet = { readonly cluster: string; readonly set: ObservedSet };

export type LocalSetsOptions = {
  /** The domain and writer in the flags, which are ours besides the known ones. */
  readonly configured: Identity;
  /** A set of these keys changed, or a set that has one of their names. */
  readonly onChange: (keys: readonly string[]) => void;
  readonly counts: Pick<ObjectCounts, 'count'>;
};

/** All GlobalNetworkSets of the local cluster: ours by key, and the names of the others, which are taken. */
export class LocalSets {
  readonly store: Store<LocalSet>;
  /** As of `readOwner`. */
  readonly domains: readonly string[];
  readonly #options: LocalSetsOptions;
  readonly #byKey = new Map<string, Map<string, OwnSet>>();
  /** By cluster. */
  readonly #counts = new Map<string, number>();

  constructor(options: LocalSetsOptions) {
    this.#options = options;
    this.domains = domainsWith(options.configured.domain);
    this.store = new Store<LocalSet>({
      equal: (a, b) => isSameSet(a.set, b.set),
      onChange: ({ previous, current }) => this.#changed(previous, current),
    });
  }

  get synced(): boolean {
    return this.store.view.synced;
  }

  /** How many sets of ours a cluster has. */
  ownSets(cluster: string): number {
    return this.#counts.get(cluster) ?? 0;
  }

  /** The sets of ours whose names belong to a key, each with its cluster. */
  ofKey(key: string): readonly OwnSet[] {
    return [...(this.#byKey.get(key)?.values() ?? [])];
  }

  /** All sets of ours that a cluster has. */
  ofCluster(cluster: string): readonly ObservedSet[] {
    const all = Array.from(this.#byKey.values(), (sets) => [...sets.values()]).flat();
    return all.filter((own) => own.cluster === cluster).map(({ set }) => set);
  }

  /** The keys of all sets of ours. */
  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** Every set, ours or not; those that aren't ours without nets. */
  all(): readonly ObservedSet[] {
    const { view } = this.store;
    return view.synced ? Array.from(view.objects.values(), ({ set }) => set) : [];
  }

  /** Whether an object that isn't ours has a name. */
  isTaken(name: string): boolean {
    const { view } = this.store;
    const found = view.synced ? view.objects.get(name) : undefined;
    return found !== undefined && found.cluster === undefined;
  }

  /** What the store keeps of a GlobalNetworkSet. */
  read(object: GlobalNetworkSet): LocalSet {
    const set = observedSet(object);
    const cluster = clusterOf(set.labels, this.#options.configured);
    const { uid, resourceVersion } = set;
    return { uid, resourceVersion, set: cluster === undefined ? { ...set, nets: [] } : set, cluster };
  }

  #changed(previous: LocalSet | undefined, current: LocalSet | undefined): void {
    if (previous !== undefined) this.#index(previous, -1);
    if (current !== undefined) this.#index(current, +1);
    const keys = new Set([...this.#keysOf(previous), ...this.#keysOf(current)]);
    this.#options.onChange([...keys]);
  }

  #keysOf(local: LocalSet | undefined): readonly string[] {
    if (local === undefined) return [];
    return local.cluster === undefined ? [setKeyOfName(local.set.name)] : keysOf(local.set, this.domains);
  }

  #index({ set, cluster }: LocalSet, step: 1 | -1): void {
    if (cluster === undefined) return;
    this.#counts.set(cluster, this.ownSets(cluster) + step);
    this.#options.counts.count(cluster, step);
    const key = setKeyOfName(set.name);
    const sets = this.#byKey.get(key) ?? new Map<string, OwnSet>();
    if (step === 1) sets.set(set.name, { cluster, set });
    else sets.delete(set.name);
    if (sets.size > 0) this.#byKey.set(key, sets);
    else this.#byKey.delete(key);
  }
}
