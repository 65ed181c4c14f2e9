import type { BudgetLimits, ReflectorHooks } from '@kube-semaphore/informers';
import { type Instruments, type Logger, type sharedMetrics, wordsOf } from '@kube-semaphore/runtime';

export type ClusterWatchesOptions = {
  /** The remote's name; `local` for the cluster that we write to. */
  readonly cluster: string;
  readonly metrics: Pick<
    Instruments<ReturnType<typeof sharedMetrics>>,
    'remoteUp' | 'remoteLastSync' | 'remoteWatchRestarts' | 'remoteOverBudget'
  >;
  readonly log: Logger;
  /** The first lists of all watches are complete, as `firstSync` says, too. */
  readonly onFirstSync?: () => void;
  readonly onWatchForbidden?: () => void;
};

type Budget = keyof BudgetLimits;

type State = {
  up: 'new' | 'up' | 'down';
  forbidden: boolean;
  synced: boolean;
  /** Why it broke off last, in words, until it is answered. */
  failure: string | undefined;
  /** What there was too much of, until a list has ended. */
  overBudget: Budget | undefined;
  confirmedAtMs: number;
};

/** Twice the longest backoff of a reflector. In a longer pause a remote is away, whatever the reason. */
const LONG_PAUSE_MS = 60_000;

/**
 * The watches of one cluster, and what their ups and downs look like in the log and the metrics: one line when the API
 * server is lost, one when all of them are back, and every attempt in between at debug.
 */
export class ClusterWatches {
  readonly #options: ClusterWatchesOptions;
  readonly #watches: State[] = [];
  readonly #firstSync = Promise.withResolvers<void>();
  #state: State['up'] = 'new';

  constructor(options: ClusterWatchesOptions) {
    this.#options = options;
    options.metrics.remoteUp.set({ remote: options.cluster }, 0);
    // A cluster that never completes a list must grow old, too: an alert on a series that isn't there never fires.
    options.metrics.remoteLastSync.set({ remote: options.cluster }, Math.round(Date.now() / 1000));
    this.#setOverBudget();
  }

  /** Resolves when the first lists of all watches are complete. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Whether all watches answered last time. */
  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** Whether one of the watches that can be done without is forbidden. */
  get isForbidden(): boolean {
    return this.#watches.some(({ forbidden }) => forbidden);
  }

  /** Why it isn't reached, in words that may be of others; undefined: it is, or has had no time to say. */
  get failure(): string | undefined {
    return this.#watches.find(({ failure }) => failure !== undefined)?.failure;
  }

  /** Milliseconds since the cluster last confirmed what is known of it, by the watch that is worst off; Infinity before. */
  get unseenMs(): number {
    return performance.now() - Math.min(...this.#watches.map(({ confirmedAtMs }) => confirmedAtMs));
  }

  /**
   * For one more watch; all of them are made before the first begins.
   *
   * @param whenForbidden of a watch that can be done without: what is said in the place of a loss, once, where it is forbidden (403)
   */
  hooks({ whenForbidden }: { readonly whenForbidden?: string } = {}): ReflectorHooks {
    const { metrics, log, cluster, onFirstSync, onWatchForbidden } = this.#options;
    const remote = { remote: cluster };
    const watch: State = {
      up: 'new',
      forbidden: false,
      synced: false,
      failure: undefined,
      overBudget: undefined,
      confirmedAtMs: -Infinity,
    };
    this.#watches.push(watch);
    const answered = (): void => {
      watch.up = 'up';
      watch.forbidden = false;
      watch.failure = undefined;
      if (this.#state === 'up' || this.#watches.some(({ up }) => up === 'down')) return;
      log.info({ cluster }, this.#state === 'new' ? 'API server reached' : 'API server is back');
      this.#state = 'up';
      metrics.remoteUp.set(remote, 1);
    };
    return {
      onUp: () => {
        // That it answers is no news: only a list that ends shows that there is room again.
        if (watch.overBudget === undefined) answered();
      },
      onConfirmed: () => {
        watch.confirmedAtMs = performance.now();
        const { unseenMs } = this;
        if (unseenMs < Infinity) metrics.remoteLastSync.set(remote, Math.round((Date.now() - unseenMs) / 1000));
      },
      onSynced: () => {
        if (watch.overBudget !== undefined) {
          watch.overBudget = undefined;
          this.#setOverBudget();
          answered();
        }
        if (watch.synced) return;
        watch.synced = true;
        if (!this.#watches.every(({ synced }) => synced)) return;
        this.#firstSync.resolve();
        onFirstSync?.();
      },
      onRestart: ({ reason, verb, error, delayMs }) => {
        metrics.remoteWatchRestarts.inc({ ...remote, reason });
        if (error === undefined) return;
        watch.failure = wordsOf(error);
        if (reason === 'over_budget') {
          const isNew = this.#watches.every(({ overBudget }) => overBudget === undefined);
          if (isNew) log.warn({ cluster, error }, 'remote has more than we keep: its watches stop');
          watch.overBudget = (error as { budget: Budget }).budget;
          this.#setOverBudget();
        }
        // A watch that expired or was silent is opened again at once: that alone says nothing about the API server.
        const harmless = (reason === 'expired' || reason === 'idle') && delayMs < LONG_PAUSE_MS;
        const forbidden = whenForbidden !== undefined && isForbidden(error);
        const said = forbidden ? watch.forbidden : harmless || reason === 'over_budget' || this.#state === 'down';
        log[said ? 'debug' : 'warn'](
          { cluster, reason, verb, error, retryInMs: Math.round(delayMs) },
          forbidden ? whenForbidden : 'watch broke off',
        );
        watch.forbidden ||= forbidden;
        if (harmless) return;
        watch.up = 'down';
        this.#state = 'down';
        metrics.remoteUp.set(remote, 0);
      },
      onWatchForbidden: () => {
        log.warn({ cluster }, 'listing is allowed but watching is not: changes are seen with the next list only');
        onWatchForbidden?.();
      },
    };
  }

  #setOverBudget(): void {
    const { metrics, cluster: remote } = this.#options;
    for (const budget of ['objects', 'bytes'] as const) {
      const isOver = this.#watches.some(({ overBudget }) => overBudget === budget);
      metrics.remoteOverBudget.set({ remote, budget }, isOver ? 1 : 0);
    }
  }
}

const isForbidden = (error: unknown): boolean => (error as { status?: number }).status === 403;
