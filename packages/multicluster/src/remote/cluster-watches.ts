import type { BudgetLimits, ReflectorHooks } from '@kube-semaphore/informers';
import { type Instruments, type Logger, type sharedMetrics, wordsOf } from '@kube-semaphore/runtime';
import { reasonKey, ReasonLog } from './reason-log.ts';

export type ClusterWatchesOptions = {
  /** The remote's name; `local` for the cluster that we write to. */
  readonly cluster: string;
  readonly metrics: Pick<
    Instruments<ReturnType<typeof sharedMetrics>>,
    'remoteUp' | 'remoteLastSync' | 'remoteWatchRestarts' | 'remoteOverBudget'
  >;
  readonly log: Logger;
};

type Budget = keyof BudgetLimits;

/** How an API server is reached. Times are in ISO 8601. */
export type ConnectionStatus = {
  /** Whether the last attempts of all watches were answered. */
  readonly up: boolean;
  /** When `up` changed; at first, when the process started. */
  readonly since: string;
  /** When it last confirmed what we know; null before the first lists are complete. */
  readonly lastSync: string | null;
  /** In words, possibly with text of others; it stays when the API server answers again. Null: there was none. */
  readonly lastError: { readonly time: string; readonly message: string } | null;
};

type WatchState = {
  up: 'new' | 'up' | 'down';
  forbidden: boolean;
  synced: boolean;
  /** The budget that it exceeds, until a list is complete. */
  overBudget: Budget | undefined;
  confirmedAtMs: number;
};

/** Twice the longest backoff of a reflector. In a longer pause a remote is down, whatever the reason. */
const LONG_PAUSE_MS = 60_000;

/**
 * The watches of one cluster, with their log lines and metrics: one line when the API server is lost, one when the
 * reason changes, one when all watches have recovered, and every other attempt in between at debug.
 */
export class ClusterWatches {
  readonly #options: ClusterWatchesOptions;
  readonly #watches: WatchState[] = [];
  readonly #byHooks = new WeakMap<ReflectorHooks, WatchState>();
  readonly #firstSync = Promise.withResolvers<void>();
  #isWatchForbidden = false;
  #up: WatchState['up'] = 'new';
  #since = new Date();
  #lastError: ConnectionStatus['lastError'] = null;
  readonly #reasons = new ReasonLog();

  constructor(options: ClusterWatchesOptions) {
    this.#options = options;
    options.metrics.remoteUp.set({ remote: options.cluster }, 0);
    // An alert needs the age of a cluster that never completes a list, too.
    options.metrics.remoteLastSync.set({ remote: options.cluster }, Math.round(Date.now() / 1000));
    this.#reportBudgets();
  }

  /** Whether a list alone shows what others wrote, of one kind at least. */
  get isWatchForbidden(): boolean {
    return this.#isWatchForbidden;
  }

  /** Resolves when the first lists of all watches are complete. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Whether the last attempts of all watches were answered. */
  get isUp(): boolean {
    return this.#up === 'up';
  }

  /** Whether an optional watch is forbidden. */
  get isForbidden(): boolean {
    return this.#watches.some(({ forbidden }) => forbidden);
  }

  /** The last error, in words, possibly with text of others: why a cluster isn't reached. Undefined: there was none. */
  get failure(): string | undefined {
    return this.#lastError?.message;
  }

  status(): ConnectionStatus {
    const { isUp: up, unseenMs } = this;
    const lastSync = unseenMs === Infinity ? null : new Date(Date.now() - unseenMs).toISOString();
    return { up, since: this.#since.toISOString(), lastSync, lastError: this.#lastError };
  }

  /** Milliseconds since the cluster last confirmed what we know of it, for the oldest watch; Infinity before. */
  get unseenMs(): number {
    if (this.#watches.length === 0) return Infinity;
    return performance.now() - Math.min(...this.#watches.map(({ confirmedAtMs }) => confirmedAtMs));
  }

  /**
   * For one more watch; call it for all of them before the first begins.
   *
   * @param whenForbidden of an optional watch: the log message if it is forbidden (403), in place of a failure
   * @param until of a watch that begins later, and ends with this signal: `firstSync` doesn't wait for it
   */
  hooks({
    whenForbidden,
    until,
  }: { readonly whenForbidden?: string; readonly until?: AbortSignal } = {}): ReflectorHooks {
    const { metrics, log, cluster } = this.#options;
    const remote = { remote: cluster };
    const watch: WatchState = {
      up: 'new',
      forbidden: false,
      synced: until !== undefined,
      overBudget: undefined,
      // A cluster that is lost before the first list of a later watch was seen until then.
      confirmedAtMs: until === undefined ? -Infinity : performance.now(),
    };
    this.#watches.push(watch);
    const hooks: ReflectorHooks = {
      onUp: () => {
        // An answer doesn't show that the budget suffices now, but a complete list does.
        if (watch.overBudget === undefined) this.#answered(watch);
      },
      onConfirmed: () => {
        watch.confirmedAtMs = performance.now();
        const { unseenMs } = this;
        if (unseenMs < Infinity) metrics.remoteLastSync.set(remote, Math.round((Date.now() - unseenMs) / 1000));
      },
      onSynced: () => {
        if (watch.overBudget !== undefined) {
          watch.overBudget = undefined;
          this.#reportBudgets();
          this.#answered(watch);
        }
        if (watch.synced) return;
        watch.synced = true;
        if (!this.#watches.every(({ synced }) => synced)) return;
        this.#firstSync.resolve();
      },
      onRestart: ({ reason, verb, error, delayMs }) => {
        metrics.remoteWatchRestarts.inc({ ...remote, reason });
        if (error === undefined) return;
        if (reason === 'over_budget') this.#exceeded(watch, error);
        // A watch that expired or was silent is opened again at once: the API server is not down.
        const harmless = (reason === 'expired' || reason === 'idle') && delayMs < LONG_PAUSE_MS;
        const forbidden = whenForbidden !== undefined && isForbidden(error);
        const isTold = harmless || reason === 'over_budget';
        const known = forbidden
          ? watch.forbidden
          : isTold || !this.#reasons.isNews(reasonKey(reason, error), performance.now());
        const fields = { cluster, reason, verb, error, retryInMs: Math.round(delayMs) };
        log[known ? 'debug' : 'warn'](fields, forbidden ? whenForbidden : 'watch failed');
        watch.forbidden ||= forbidden;
        // Why another watch is down matters more.
        if (!harmless || this.#up !== 'down')
          this.#lastError = { time: new Date().toISOString(), message: wordsOf(error) };
        if (harmless) return;
        watch.up = 'down';
        this.#setUp('down');
        metrics.remoteUp.set(remote, 0);
      },
      onWatchForbidden: () => {
        log.warn({ cluster }, 'watch is forbidden; listing periodically');
        this.#isWatchForbidden = true;
      },
    };
    this.#byHooks.set(hooks, watch);
    until?.addEventListener('abort', () => this.drop(hooks), { once: true });
    return hooks;
  }

  /** A watch has ended for good: its state no longer counts. */
  drop(hooks: ReflectorHooks): void {
    const watch = this.#byHooks.get(hooks);
    const at = watch === undefined ? -1 : this.#watches.indexOf(watch);
    if (at < 0) return;
    this.#watches.splice(at, 1);
    this.#reportBudgets();
    const [other] = this.#watches;
    if (other?.up === 'up') this.#answered(other);
  }

  #answered(watch: WatchState): void {
    const { metrics, log, cluster } = this.#options;
    Object.assign(watch, { up: 'up', forbidden: false });
    if (this.isUp || this.#watches.some(({ up }) => up === 'down')) return;
    log.info({ cluster }, this.#up === 'new' ? 'API server reached' : 'API server recovered');
    this.#setUp('up');
    this.#reasons.clear();
    metrics.remoteUp.set({ remote: cluster }, 1);
  }

  #setUp(up: 'up' | 'down'): void {
    if (this.isUp !== (up === 'up')) this.#since = new Date();
    this.#up = up;
  }

  #exceeded(watch: WatchState, error: unknown): void {
    const { log, cluster } = this.#options;
    if (this.#watches.every(({ overBudget }) => overBudget === undefined))
      log.warn({ cluster, error }, 'remote exceeds a budget; its watches stop');
    watch.overBudget = (error as { budget: Budget }).budget;
    this.#reportBudgets();
  }

  #reportBudgets(): void {
    const { metrics, cluster: remote } = this.#options;
    for (const budget of ['objects', 'bytes'] as const) {
      const isOver = this.#watches.some(({ overBudget }) => overBudget === budget);
      metrics.remoteOverBudget.set({ remote, budget }, isOver ? 1 : 0);
    }
  }
}

const isForbidden = (error: unknown): boolean => (error as { status?: number }).status === 403;
