import type { MirrorMetrics } from './metrics.ts';

/** A watch as the Go program named them: `c2-serviceWatcher` of runner `mirror-c2`, for kind `service`. */
export type Watcher = {
  readonly watcher: string;
  readonly kind: 'service' | 'endpoints' | 'endpointslice';
  readonly runner: string;
};

/** What a watch saw, under the names of the Go program's metrics. */
export class WatcherMetrics {
  readonly #metrics: Pick<MirrorMetrics, 'watcherObjects' | 'watcherEvents'>;
  readonly #labels: readonly Watcher[];
  readonly #events = { ADDED: 0, MODIFIED: 0, DELETED: 0 };

  /** @param labels one for each use of the watch: what the Go program watched twice is watched once here */
  constructor(metrics: Pick<MirrorMetrics, 'watcherObjects' | 'watcherEvents'>, labels: readonly Watcher[]) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  /** An object came, changed or went; `size` are there now. */
  changed({ previous, current }: { readonly previous: unknown; readonly current: unknown }, size: number): void {
    const type = current === undefined ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#events[type]++;
    for (const labels of this.#labels) {
      this.#metrics.watcherObjects.set(labels, size);
      this.#metrics.watcherEvents.set({ ...labels, event_type: type }, this.#events[type]);
    }
  }
}
