import { mirrorClusterLabel, mirroredServiceLabel, mirroredSliceLabel, mirrorPrefixLabel } from '../names.ts';
import type { MirrorMetrics } from './metrics.ts';
import { type Watcher, WatcherMetrics } from './watchers.ts';

type Labels = Readonly<Record<string, string>>;

/** Whose a local object is, by its labels. */
type Owner = { readonly cluster: string; readonly use: 'mirror' | 'global' | 'orphan' };

export type LocalCountsOptions = {
  readonly metrics: Pick<MirrorMetrics, 'orphans' | 'watcherObjects' | 'watcherEvents'>;
  /** Prefixes of the remotes, by cluster. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** The local cluster's name, which has slices of global Services. */
  readonly local: string;
};

/** What keys of counts begin with that are an orphan's. */
const ORPHAN = 'orphan ';

/** How many local objects there are for each cluster, and for clusters that aren't in the config. */
export class LocalCounts {
  readonly #options: LocalCountsOptions;
  readonly #clusters: ReadonlyMap<string, string>;
  readonly #counts = new Map<string, number>();
  readonly #watchers = new Map<string, WatcherMetrics>();

  constructor(options: LocalCountsOptions) {
    this.#options = options;
    this.#clusters = new Map(Array.from(options.prefixes, ([cluster, prefix]) => [prefix, cluster]));
  }

  /** A local object came, changed or went. */
  changed(
    watch: 'services' | 'slices' | 'endpoints',
    {
      previous,
      current,
    }: {
      readonly previous: { readonly labels: Labels } | undefined;
      readonly current: { readonly labels: Labels } | undefined;
    },
  ): void {
    const [before, after] = [previous && this.#ownerOf(previous.labels), current && this.#ownerOf(current.labels)];
    const isMove = before?.cluster !== after?.cluster || before?.use !== after?.use;
    if (before !== undefined && isMove) this.#count(watch, before, -1, { previous, current: undefined });
    if (after !== undefined)
      this.#count(watch, after, isMove || previous === undefined ? +1 : 0, {
        previous: isMove ? undefined : previous,
        current,
      });
  }

  /** Clusters that aren't in the config, with how many objects there are of each; sorted. */
  get orphans(): readonly { readonly cluster: string; readonly objects: number }[] {
    const counts = [...this.#counts].filter(([key, count]) => key.startsWith(ORPHAN) && count > 0);
    return counts
      .map(([key, objects]) => ({ cluster: key.slice(ORPHAN.length), objects }))
      .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
  }

  #count(
    watch: 'services' | 'slices' | 'endpoints',
    owner: Owner,
    step: -1 | 0 | 1,
    change: { readonly previous: unknown; readonly current: unknown },
  ): void {
    const key = owner.use === 'orphan' ? `${ORPHAN}${owner.cluster}` : `${watch} ${owner.use} ${owner.cluster}`;
    const count = (this.#counts.get(key) ?? 0) + step;
    this.#counts.set(key, count);
    const { metrics } = this.#options;
    if (owner.use === 'orphan') {
      metrics.orphans.set({ cluster: owner.cluster }, count);
      return;
    }
    const labels = watcherOf(watch, owner);
    if (labels === undefined) return;
    const watcher = this.#watchers.get(key) ?? new WatcherMetrics(metrics, [labels]);
    this.#watchers.set(key, watcher);
    watcher.changed(change, count);
  }

  #ownerOf(labels: Labels): Owner | undefined {
    if (labels[mirroredServiceLabel] === 'true') {
      const prefix = labels[mirrorPrefixLabel] ?? '';
      const cluster = this.#clusters.get(prefix);
      return cluster === undefined ? { cluster: prefix, use: 'orphan' } : { cluster, use: 'mirror' };
    }
    if (labels[mirroredSliceLabel] !== 'true') return undefined;
    const cluster = labels[mirrorClusterLabel] ?? '';
    const isKnown = cluster === this.#options.local || this.#options.prefixes.has(cluster);
    return { cluster, use: isKnown ? 'global' : 'orphan' };
  }
}

/** What the Go program watched there; slices of mirrors are what it had Endpoints for. */
function watcherOf(watch: 'services' | 'slices' | 'endpoints', { cluster, use }: Owner): Watcher | undefined {
  const runner = `${use}-${cluster}`;
  if (use === 'global')
    return watch === 'slices'
      ? { watcher: `${cluster}-mirrorEndpointSliceWatcher`, kind: 'endpointslice', runner }
      : undefined;
  if (watch === 'services') return { watcher: `${cluster}-mirrorServiceWatcher`, kind: 'service', runner };
  return watch === 'slices' ? { watcher: `${cluster}-mirrorEndpointsWatcher`, kind: 'endpoints', runner } : undefined;
}
