import { Limiter } from '@kube-semaphore/controller';
import type { WriteOptions } from '@kube-semaphore/kube-client';
import { type Leadership, NotLeadingError } from '@kube-semaphore/leader-election';
import type { Instruments, sharedMetrics } from '@kube-semaphore/runtime';
import { RemoteWrites, RemoteWritesError, type RemoteWritesOptions } from './remote-writes.ts';
import { type FailedWrite, WriteLog } from './write-log.ts';

/** The facts about a write, besides its request. */
export type LocalWrite = {
  /** What is reconciled. */
  readonly key: string;
  /** The remote, or `global`, whose budget it counts against; undefined: none. */
  readonly account: string | undefined;
  readonly isDeletion: boolean;
  /** As `ReconcileContext.since`. */
  readonly since: number | undefined;
  /** The remote whose event it answers, for the propagation metric; undefined: unknown. */
  readonly remote: string | undefined;
  /** The remote whose object it repairs, if no event asks for it; undefined: none. */
  readonly repairs: string | undefined;
  /** The log message and its fields, called after the write. */
  readonly event: () => { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };
};

export type LocalWritesOptions = Omit<RemoteWritesOptions, 'metrics'> & {
  readonly leadership: Leadership;
  /** The maximum of parallel writes. */
  readonly concurrency: number;
  /** What is written, at the beginning of log messages: `set`. */
  readonly what: string;
  readonly metrics: Pick<
    Instruments<ReturnType<typeof sharedMetrics>>,
    'remoteUp' | 'remoteOverBudget' | 'propagation'
  > & {
    readonly repairs: { inc(labels: { readonly remote: string }): void };
    /** What failed, and is tried again; undefined: the app has no such metric. */
    readonly requeues?: { inc(labels: object): void };
  };
};

/** The way of every write to the local cluster: the budget of its remote, the limiter, the Lease, then log and metrics. */
export class LocalWrites {
  readonly #options: LocalWritesOptions;
  readonly #limiter: Limiter;
  readonly #budgets: RemoteWrites;
  readonly #log: WriteLog;

  constructor(options: LocalWritesOptions) {
    const { log, what, metrics, concurrency } = options;
    this.#options = options;
    this.#limiter = new Limiter(concurrency);
    this.#budgets = new RemoteWrites(options);
    const onTrouble = (inTrouble: boolean): void => metrics.remoteUp.set({ remote: 'local' }, inTrouble ? 0 : 1);
    this.#log = new WriteLog({ log, what, onTrouble });
  }

  /** The config has a remote from now on: its writes have a budget, and are counted. */
  begin(remote: string): void {
    this.#budgets.begin(remote);
  }

  /** The remote left the config. A write for it that was decided before is made, and isn't counted. */
  end(remote: string): void {
    this.#budgets.end(remote);
  }

  /**
   * Writes in turn. One account gets about half of the turns, so others go on while its writes have no answer.
   *
   * @throws RemoteWritesError if the remote must wait, before it waits for its turn; NotLeadingError; what `send` throws
   */
  async write<T>(
    { key, account, isDeletion, since, remote, repairs, event }: LocalWrite,
    send: (options: WriteOptions) => Promise<T>,
  ): Promise<T> {
    const { leadership, metrics } = this.#options;
    if (account !== undefined) this.#budgets.spend(account, { key, isDeletion });
    const written = await this.#limiter.run(account, () =>
      leadership.guard(({ signal, check }) => send({ signal, beforeSend: check })),
    );
    const { event: message, facts } = event();
    this.#log.written(message, facts);
    if (since === undefined) {
      if (this.#counts(repairs)) metrics.repairs.inc({ remote: repairs });
    } else if (this.#counts(remote)) metrics.propagation.observe({ remote }, (performance.now() - since) / 1000);
    return written;
  }

  /**
   * Logs and counts a write that failed, or a reconcile; not one that only waits for its turn.
   *
   * @param what wasn't written; default: as in the options
   */
  failed(failure: FailedWrite, what?: string): void {
    if (failure.error instanceof NotLeadingError || failure.error instanceof RemoteWritesError) return;
    this.#log.failed(failure, what);
    this.#options.metrics.requeues?.inc({});
  }

  /** Whether the metrics have a remote: a series of one that left the config would stay for ever. */
  #counts(remote: string | undefined): remote is string {
    return remote !== undefined && this.#budgets.has(remote);
  }
}
