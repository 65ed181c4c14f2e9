import { type ClusterWatches, everyPeriod } from '@kube-semaphore/multicluster';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { RemoteSettings } from '../../config/settings.ts';
import type { Stale } from '../../endpoints/desired/merged/stale-endpoints.ts';

export type StalenessOptions = {
  readonly settings: RemoteSettings;
  readonly watches: Pick<ClusterWatches, 'isUp' | 'unseenMs'>;
  readonly log: Logger;
  /** The remote became stale, or is no longer stale. */
  readonly onChange: () => void;
};

/** Whether a remote has not been reached for `staleAfter`. It is no longer stale as soon as it answers. */
export class Staleness {
  readonly #options: StalenessOptions;
  #isStale = false;

  constructor(options: StalenessOptions) {
    this.#options = options;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  /** What happens to the remote's endpoints in global Services now. */
  get action(): Stale {
    const { staleAction } = this.#options.settings;
    return this.#isStale && staleAction !== 'keep' ? staleAction : 'no';
  }

  check(): void {
    const { settings, watches, log, onChange } = this.#options;
    const { name: cluster, staleAfterMs, staleAction } = settings;
    if (staleAfterMs === 0) return;
    const isStale = !watches.isUp && watches.unseenMs > staleAfterMs;
    if (isStale === this.#isStale) return;
    this.#isStale = isStale;
    log.warn({ cluster, staleAction }, isStale ? 'remote is stale in global services' : 'remote is no longer stale');
    onChange();
  }

  /** Checks often enough that the action comes at most a second late, until `signal` is aborted. */
  run(running: RunOptions): Promise<void> {
    const { staleAfterMs } = this.#options.settings;
    return everyPeriod(Math.min(1_000, staleAfterMs / 4), () => this.check(), running);
  }
}
