import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { type CalicoApi, type GlobalNetworkSet, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { setKeyOfName } from '../names.ts';
import { isSameSet, type ObservedSet, observedSet } from '../desired/network-set.ts';
import { classify, clusterOfFirstRelease, keysOf, type Ownership } from '../desired/ownership.ts';
import { domainsWith, type Identity } from '../desired/labels.ts';

/** A set as it lies in the store. Of sets that aren't ours only the name matters, so their nets aren't kept. */
type LocalSet = {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly set: ObservedSet;
  readonly ownership: Ownership;
};

/** A set of ours, and the remote cluster that it is for. */
export type OwnSet = { readonly cluster: string; readonly set: ObservedSet };

export type LocalSetsOptions = {
  readonly client: KubeClient;
  readonly api: CalicoApi;
  /** Those that our config names. */
  readonly clusters: ReadonlySet<string>;
  /** What tells our sets from others' besides the known labels and writers. */
  readonly configured: Identity;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly hooks: ReflectorHooks;
  /** A set of these keys changed, or a set that holds one of their names. */
  readonly onChange: (keys: readonly string[]) => void;
  /** How many sets there are of a cluster that isn't ours. */
  readonly onOrphans: (cluster: string, count: number) => void;
};

/** All GlobalNetworkSets of the local cluster: ours by key, and of the others that their names are taken. */
export class LocalSets {
  readonly #options: LocalSetsOptions;
  readonly #store: Store<LocalSet>;
  readonly #byKey = new Map<string, Map<string, OwnSet>>();
  readonly #orphans = new Map<string, number>();
  readonly #ownSets = new Map<string, number>();
  readonly #domains: readonly string[];
  readonly reflector: Reflector<ReturnType<typeof globalNetworkSetKind>, LocalSet>;

  constructor(options: LocalSetsOptions) {
    this.#options = options;
    this.#domains = domainsWith(options.configured.domain);
    this.#store = new Store<LocalSet>({
      equal: (a, b) => isSameSet(a.set, b.set),
      onChange: ({ previous, current }) => this.#changed(previous, current),
    });
    const { client, api, idleTimeoutMs, pollIntervalMs, hooks } = options;
    this.reflector = new Reflector({
      client,
      kind: globalNetworkSetKind(api),
      // The group projectcalico.org is served by Calico's aggregated API server.
      watchList: api === 'projectcalico.org/v3' ? 'never' : 'auto',
      project: (object) => this.#read(object),
      store: this.#store,
      idleTimeoutMs,
      pollIntervalMs,
      hooks,
    });
  }

  get synced(): boolean {
    return this.#store.view.synced;
  }

  /** How many sets of ours a cluster has. */
  ownSets(cluster: string): number {
    return this.#ownSets.get(cluster) ?? 0;
  }

  /** The sets of ours whose names belong to a key, each with its cluster. */
  ofKey(key: string): readonly OwnSet[] {
    return [...(this.#byKey.get(key)?.values() ?? [])];
  }

  /** All sets of ours. */
  own(): readonly OwnSet[] {
    return Array.from(this.#byKey.values(), (sets) => [...sets.values()]).flat();
  }

  /** The keys of all sets of ours. */
  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** The labels of every set, whoever's it is. */
  labels(): readonly { readonly labels: ObservedSet['labels'] }[] {
    const { view } = this.#store;
    return view.synced ? Array.from(view.objects.values(), ({ set }) => set) : [];
  }

  /** The names of the sets that v0.1.0 left of a cluster, sorted: they aren't ours. */
  ofFirstRelease(cluster: string): readonly string[] {
    const { view } = this.#store;
    if (!view.synced) return [];
    const left = Array.from(view.objects.values(), ({ set }) => set).filter(
      ({ labels }) => clusterOfFirstRelease(labels) === cluster,
    );
    return left.map(({ name }) => name).toSorted();
  }

  /** Whether an object that isn't ours holds a name. */
  isTaken(name: string): boolean {
    const { view } = this.#store;
    return view.synced && (view.objects.get(name)?.ownership.kind ?? 'ours') !== 'ours';
  }

  /** The answer to a write of ours, which the watch will bring later. */
  written(object: GlobalNetworkSet): void {
    this.reflector.wrote(object);
  }

  /** A set of ours was deleted, which the watch will tell later. */
  deleted({ name, uid }: ObservedSet): void {
    this.#store.delete(name, uid);
  }

  #read(object: GlobalNetworkSet): LocalSet {
    const set = observedSet(object);
    const { clusters, configured } = this.#options;
    const ownership = classify(set.labels, clusters, configured);
    const { uid, resourceVersion } = set;
    return { uid, resourceVersion, set: ownership.kind === 'ours' ? set : { ...set, nets: [] }, ownership };
  }

  #changed(previous: LocalSet | undefined, current: LocalSet | undefined): void {
    if (previous !== undefined) this.#remove(previous);
    if (current !== undefined) this.#add(current);
    const keys = new Set([...this.#keysOf(previous), ...this.#keysOf(current)]);
    this.#options.onChange([...keys]);
  }

  #keysOf(local: LocalSet | undefined): readonly string[] {
    if (local === undefined) return [];
    return local.ownership.kind === 'ours' ? keysOf(local.set, this.#domains) : [setKeyOfName(local.set.name)];
  }

  #add({ set, ownership }: LocalSet): void {
    if (ownership.kind === 'orphan') this.#countOrphan(ownership.cluster, +1);
    if (ownership.kind !== 'ours') return;
    this.#countOwn(ownership.cluster, +1);
    const key = setKeyOfName(set.name);
    const sets = this.#byKey.get(key) ?? new Map<string, OwnSet>();
    this.#byKey.set(key, sets.set(set.name, { cluster: ownership.cluster, set }));
  }

  #remove({ set, ownership }: LocalSet): void {
    if (ownership.kind === 'orphan') this.#countOrphan(ownership.cluster, -1);
    if (ownership.kind !== 'ours') return;
    this.#countOwn(ownership.cluster, -1);
    const key = setKeyOfName(set.name);
    const sets = this.#byKey.get(key);
    sets?.delete(set.name);
    if (sets?.size === 0) this.#byKey.delete(key);
  }

  #countOwn(cluster: string, step: 1 | -1): void {
    this.#ownSets.set(cluster, this.ownSets(cluster) + step);
  }

  #countOrphan(cluster: string, step: 1 | -1): void {
    const count = (this.#orphans.get(cluster) ?? 0) + step;
    this.#orphans.set(cluster, count);
    this.#options.onOrphans(cluster, count);
  }
}
