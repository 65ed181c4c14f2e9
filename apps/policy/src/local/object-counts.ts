import type { Remotes } from '@kube-semaphore/multicluster';
import type { RemoteSettings } from '../config/settings.ts';
import type { PolicyMetrics } from '../metrics.ts';

export type ObjectCountsOptions = {
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
  readonly metrics: { readonly orphans: Pick<PolicyMetrics['orphans'], 'set' | 'remove'> };
};

/** How many sets and companions name each cluster. Those of a cluster that isn't in the config are orphans. */
export class ObjectCounts {
  readonly #options: ObjectCountsOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: ObjectCountsOptions) {
    this.#options = options;
  }

  of(cluster: string): number {
    return this.#counts.get(cluster) ?? 0;
  }

  count(cluster: string, step: 1 | -1): void {
    this.#counts.set(cluster, this.of(cluster) + step);
    this.#report(cluster);
  }

  /** The config changed. */
  report(): void {
    for (const cluster of this.#counts.keys()) this.#report(cluster);
  }

  #report(cluster: string): void {
    const { remotes, metrics } = this.#options;
    if (remotes.byName.has(cluster)) metrics.orphans.remove({ cluster });
    else metrics.orphans.set({ cluster }, this.of(cluster));
  }
}
