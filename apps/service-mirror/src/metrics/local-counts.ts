import { prefixesOf, type PrefixList } from '../config/settings.ts';
import { GLOBAL, mirrorClusterLabel, mirroredServiceLabel, mirroredSliceLabel, mirrorPrefixLabel } from '../names.ts';
import { mirrorsWithoutReadyEndpoints } from '../services/desired/mirrors/ready-mirrors.ts';
import type { LocalKind } from '../services/local/objects.ts';
import type { MirrorMetrics } from './metrics.ts';
import { WatcherMetrics, watcherOf } from './watchers.ts';

type Labels = Readonly<Record<string, string>>;

type Labelled = { readonly labels: Labels };

type Change = { readonly previous: Labelled | undefined; readonly current: Labelled | undefined };

/** The cluster of a local object, by its labels. */
type Owner = { readonly cluster: string; readonly use: 'mirror' | 'global' | 'orphan' };

export type LocalCountsOptions = {
  readonly metrics: Pick<
    MirrorMetrics,
    'orphans' | 'watcherObjects' | 'watcherEvents' | 'mirrorsWithoutReadyEndpoints'
  >;
  readonly remotes: PrefixList;
  /** The local cluster's name. */
  readonly local: string;
  readonly hasGlobals: boolean;
};

/** The start of the count keys of orphans. */
const ORPHAN = 'orphan ';

/** How many local objects there are of each cluster, and of clusters that aren't in the config. */
export class LocalCounts {
  readonly #options: LocalCountsOptions;
  readonly #counts = new Map<string, number>();
  readonly #watchers = new Map<string, WatcherMetrics>();
  /** By which objects are counted, until `recount`. */
  #known: Known;
  /** Whether no local object changed since the last sample. */
  #isSampled = false;

  constructor(options: LocalCountsOptions) {
    this.#options = options;
    this.#known = knownIn(options);
  }

  /** A local object was added, changed or removed. */
  changed(kind: LocalKind, { previous, current }: Change): void {
    this.#isSampled = false;
    const { ownerOf } = this.#known;
    const [before, after] = [previous && ownerOf(previous.labels), current && ownerOf(current.labels)];
    const isMove = before?.cluster !== after?.cluster || before?.use !== after?.use;
    if (before !== undefined && isMove) this.#count(kind, before, -1, { previous, current: undefined });
    if (after !== undefined)
      this.#count(kind, after, isMove || previous === undefined ? +1 : 0, {
        previous: isMove ? undefined : previous,
        current,
      });
  }

  /** An object of a ServiceImport was added, changed or removed: these clusters had a part in it before, and have one now. */
  importChanged(before: readonly string[], after: readonly string[]): void {
    for (const [clusters, step] of [[before, -1] as const, [after, 1] as const])
      for (const cluster of clusters)
        if (cluster !== '' && !this.#known.isKnown(cluster)) this.#countOrphan(cluster, step);
  }

  /**
   * The config has other remotes: counts what is theirs as that of orphans, or the other way round.
   *
   * @param objects all local ones, by kind
   * @param parts the clusters that have a part in an object of a ServiceImport, for each object
   */
  recount(objects: Readonly<Record<LocalKind, readonly Labelled[]>>, parts: readonly (readonly string[])[]): void {
    const before = this.#known;
    this.#known = knownIn(this.#options);
    const { remotes, ownerOf, isKnown } = this.#known;
    this.#isSampled = false;
    // One with other settings has new series, and so new counts.
    const gone = new Set(
      before.remotes.filter((each) => !remotes.includes(each)).map(({ settings: { name } }) => name),
    );
    for (const cluster of gone)
      for (const key of [...this.#counts.keys()].filter((each) => each.endsWith(` ${cluster}`) && !isOrphan(each))) {
        this.#counts.delete(key);
        this.#watchers.delete(key);
      }
    for (const kind of ['services', 'slices', 'endpoints'] as const)
      for (const object of objects[kind]) {
        const [from, to] = [before.ownerOf(object.labels), ownerOf(object.labels)];
        if (from?.cluster === to?.cluster && from?.use === to?.use && !gone.has(to?.cluster ?? '')) continue;
        if (from?.use === 'orphan') this.#countOrphan(from.cluster, -1);
        if (to !== undefined) this.#count(kind, to, +1, { previous: undefined, current: object });
      }
    for (const cluster of parts.flat().filter((each) => each !== '' && before.isKnown(each) !== isKnown(each)))
      this.#countOrphan(cluster, isKnown(cluster) ? -1 : +1);
  }

  /** Counts the mirrors and global Services without ready endpoints. An idle process does no work. */
  sample(local: Parameters<typeof mirrorsWithoutReadyEndpoints>[0]): void {
    if (this.#isSampled) return;
    this.#isSampled = true;
    const { metrics, remotes, hasGlobals } = this.#options;
    for (const [remote, count] of mirrorsWithoutReadyEndpoints(local, prefixesOf(remotes)))
      if (hasGlobals || remote !== GLOBAL) metrics.mirrorsWithoutReadyEndpoints.set({ remote }, count);
  }

  /** Clusters that aren't in the config, with how many objects there are of each; sorted. */
  get orphans(): readonly { readonly cluster: string; readonly objects: number }[] {
    const counts = [...this.#counts].filter(([key, count]) => isOrphan(key) && count > 0);
    return counts
      .map(([key, objects]) => ({ cluster: key.slice(ORPHAN.length), objects }))
      .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
  }

  #count(
    kind: LocalKind,
    owner: Owner,
    step: -1 | 0 | 1,
    change: { readonly previous: unknown; readonly current: unknown },
  ): void {
    const { cluster, use } = owner;
    if (use === 'orphan') {
      this.#countOrphan(cluster, step);
      return;
    }
    const key = `${kind} ${use} ${cluster}`;
    const count = this.#step(key, step);
    const { metrics } = this.#options;
    // The Go program watched neither our Endpoints nor global Services.
    if (kind === 'endpoints' || (use === 'global' && kind === 'services')) return;
    const watcher =
      this.#watchers.get(key) ?? new WatcherMetrics(metrics, [watcherOf(cluster, { use, what: kind, of: 'local' })]);
    this.#watchers.set(key, watcher);
    watcher.changed(change, count);
  }

  #countOrphan(cluster: string, step: -1 | 0 | 1): void {
    this.#options.metrics.orphans.set({ cluster }, this.#step(`${ORPHAN}${cluster}`, step));
  }

  #step(key: string, step: -1 | 0 | 1): number {
    const count = (this.#counts.get(key) ?? 0) + step;
    this.#counts.set(key, count);
    return count;
  }
}

/** Says to which cluster an object belongs, by the remotes of one time. */
type Known = {
  readonly remotes: PrefixList['all'];
  /** Undefined for an object that isn't ours. */
  readonly ownerOf: (labels: Labels) => Owner | undefined;
  /** Whether a cluster is in the config. */
  readonly isKnown: (cluster: string) => boolean;
};

function knownIn({ remotes, local }: Pick<LocalCountsOptions, 'remotes' | 'local'>): Known {
  const prefixes = prefixesOf(remotes);
  const clusters = new Map(Array.from(prefixes, ([cluster, prefix]) => [prefix, cluster]));
  const isKnown = (cluster: string): boolean => cluster === local || prefixes.has(cluster);
  const ownerOf = (labels: Labels): Owner | undefined => {
    if (labels[mirroredServiceLabel] === 'true') {
      const prefix = labels[mirrorPrefixLabel] ?? '';
      const cluster = clusters.get(prefix);
      return cluster === undefined ? { cluster: prefix, use: 'orphan' } : { cluster, use: 'mirror' };
    }
    if (labels[mirroredSliceLabel] !== 'true') return undefined;
    const cluster = labels[mirrorClusterLabel] ?? '';
    return { cluster, use: isKnown(cluster) ? 'global' : 'orphan' };
  };
  return { remotes: remotes.all, ownerOf, isKnown };
}

const isOrphan = (key: string): boolean => key.startsWith(ORPHAN);
