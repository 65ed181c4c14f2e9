import type { Use } from '../services/service-keys.ts';
import type { MirrorMetrics } from './metrics.ts';

/** A watch as the Go program named it: `c2-serviceWatcher` of runner `mirror-c2`, for kind `service`. */
export type Watcher = {
  readonly watcher: string;
  readonly kind: 'service' | 'endpoints' | 'endpointslice';
  readonly runner: string;
};

/** The Go program's names for watches of sources and of local objects, by kind. */
const NAMES = {
  source: { service: 'serviceWatcher', endpoints: 'endpointsWatcher', endpointslice: 'endpointSliceWatcher' },
  local: {
    service: 'mirrorServiceWatcher',
    endpoints: 'mirrorEndpointsWatcher',
    endpointslice: 'mirrorEndpointSliceWatcher',
  },
} as const;

/** The Go program's watch of a cluster's Services or slices. For mirrors, it watched Endpoints where we watch slices. */
export function watcherOf(
  cluster: string,
  { use, what, of }: { use: Use; what: 'services' | 'slices'; of: keyof typeof NAMES },
): Watcher {
  const slices = use === 'mirror' ? 'endpoints' : 'endpointslice';
  const kind = what === 'services' ? 'service' : slices;
  return { watcher: `${cluster}-${NAMES[of][kind]}`, kind, runner: runnerOf(use, cluster) };
}

const runnerOf = (use: Use, cluster: string): string => `${use}-${cluster}`;

/** The runners of all watches of a remote. */
export const runnersOfRemote = (remote: string): readonly string[] =>
  (['mirror', 'global'] as const).map((use) => runnerOf(use, remote));

/** What a watch saw, under the names of the Go program's metrics. */
export class WatcherMetrics {
  readonly #metrics: Pick<MirrorMetrics, 'watcherObjects' | 'watcherEvents'>;
  readonly #watchers: readonly Watcher[];
  readonly #events = { ADDED: 0, MODIFIED: 0, DELETED: 0 };

  /** @param watchers one for each use of the watch, as the Go program watched once for each */
  constructor(metrics: Pick<MirrorMetrics, 'watcherObjects' | 'watcherEvents'>, watchers: readonly Watcher[]) {
    this.#metrics = metrics;
    this.#watchers = watchers;
  }

  /** An object was added, changed or removed. @param size how many there are now */
  changed({ previous, current }: { readonly previous: unknown; readonly current: unknown }, size: number): void {
    const type = current === undefined ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#events[type]++;
    for (const labels of this.#watchers) {
      this.#metrics.watcherObjects.set(labels, size);
      this.#metrics.watcherEvents.set({ ...labels, event_type: type }, this.#events[type]);
    }
  }
}
