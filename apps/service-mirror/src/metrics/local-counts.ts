import { GLOBAL, mirrorClusterLabel, mirroredServiceLabel, mirroredSliceLabel, mirrorPrefixLabel } from '../names.ts';
import { mirrorsWithoutReadyEndpoints } from '../services/desired/mirrors/ready-mirrors.ts';
import type { LocalKind } from '../services/local/objects.ts';
import type { MirrorMetrics } from './metrics.ts';
import { WatcherMetrics, watcherOf } from './watchers.ts';

type Labels = Readonly<Record<string, string>>;

type Labelled = { readonly labels: Labels } | undefined;

type Change = { readonly previous: Labelled; readonly current: Labelled };

/** The cluster of a local object, by its labels. */
type Owner = { readonly cluster: string; readonly use: 'mirror' | 'global' | 'orphan' };

export type LocalCountsOptions = {
  readonly metrics: Pick<
    MirrorMetrics,
    'orphans' | 'watcherObjects' | 'watcherEvents' | 'mirrorsWithoutReadyEndpoints'
  >;
  readonly prefixes: ReadonlyMap<string, string>;
  /** The local cluster's name. */
  readonly local: string;
  readonly hasGlobals: boolean;
};

/** The start of the count keys of orphans. */
const ORPHAN = 'orphan ';

/** How many local objects there are of each cluster, and of clusters that aren't in the config. */
export class LocalCounts {
  readonly #options: LocalCountsOptions;
  readonly #clusters: ReadonlyMap<string, string>;
  readonly #counts = new Map<string, number>();
  readonly #watchers = new Map<string, WatcherMetrics>();
  /** Whether no local object changed since the last sample. */
  #isSampled = false;

  constructor(options: LocalCountsOptions) {
    this.#options = options;
    this.#clusters = new Map(Array.from(options.prefixes, ([cluster, prefix]) => [prefix, cluster]));
  }

  /** A local object was added, changed or removed. */
  changed(kind: LocalKind, { previous, current }: Change): void {
    this.#isSampled = false;
    const [before, after] = [previous && this.#ownerOf(previous.labels), current && this.#ownerOf(current.labels)];
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
      for (const cluster of clusters) if (cluster !== '' && !this.#isKnown(cluster)) this.#countOrphan(cluster, step);
  }

  /** Counts the mirrors and global Services without ready endpoints. An idle process does no work. */
  sample(local: Parameters<typeof mirrorsWithoutReadyEndpoints>[0]): void {
    if (this.#isSampled) return;
    this.#isSampled = true;
    const { metrics, prefixes, hasGlobals } = this.#options;
    for (const [remote, count] of mirrorsWithoutReadyEndpoints(local, prefixes))
      if (hasGlobals || remote !== GLOBAL) metrics.mirrorsWithoutReadyEndpoints.set({ remote }, count);
  }

  /** Clusters that aren't in the config, with how many objects there are of each; sorted. */
  get orphans(): readonly { readonly cluster: string; readonly objects: number }[] {
    const counts = [...this.#counts].filter(([key, count]) => key.startsWith(ORPHAN) && count > 0);
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

  #isKnown(cluster: string): boolean {
    return cluster === this.#options.local || this.#options.prefixes.has(cluster);
  }

  #ownerOf(labels: Labels): Owner | undefined {
    if (labels[mirroredServiceLabel] === 'true') {
      const prefix = labels[mirrorPrefixLabel] ?? '';
      const cluster = this.#clusters.get(prefix);
      return cluster === undefined ? { cluster: prefix, use: 'orphan' } : { cluster, use: 'mirror' };
    }
    if (labels[mirroredSliceLabel] !== 'true') return undefined;
    const cluster = labels[mirrorClusterLabel] ?? '';
    return { cluster, use: this.#isKnown(cluster) ? 'global' : 'orphan' };
  }
}
