import { Limiter } from '@kube-semaphore/controller';
import type { WriteOptions } from '@kube-semaphore/kube-client';
import { type Leadership, NotLeadingError } from '@kube-semaphore/leader-election';
import type { Instruments, sharedMetrics } from '@kube-semaphore/runtime';
import { RemoteWrites, RemoteWritesError, type RemoteWritesOptions } from './remote-writes.ts';
import { WriteLog } from './write-log.ts';

/** What is to be known of a write, beside what it writes. */
export type LocalWrite = {
  /** The remote among whose writes it counts; undefined: no one's. */
  readonly payer: string | undefined;
  readonly isDeletion: boolean;
  /** As `ReconcileContext.since`. */
  readonly since: number | undefined;
  /** The remote whose event it answers, for the time from there to here; undefined where it isn't known. */
  readonly remote: string | undefined;
  /** What a repair counts for, where no event of a remote asked for the write; undefined: nothing. */
  readonly repairs: string | undefined;
  /** What the log says of it, asked when it is done. */
  readonly event: () => { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };
};

export type LocalWritesOptions = Omit<RemoteWritesOptions, 'metrics'> & {
  readonly leadership: Leadership;
  /** How many at once. */
  readonly concurrency: number;
  /** What is written, as a log line begins: `set`. */
  readonly what: string;
  readonly metrics: Pick<
    Instruments<ReturnType<typeof sharedMetrics>>,
    'remoteUp' | 'remoteOverBudget' | 'propagation'
  > & {
    readonly repairs: { inc(labels: { readonly remote: string }): void };
  };
};

/** The local cluster's name in metrics, where remotes have their own. */
const LOCAL = 'local';

/** The way of every write to the local cluster: the budget of its remote, a turn, the Lease, then the log and metrics. */
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
    this.#log = new WriteLog({
      log,
      what,
      onTrouble: (inTrouble) => metrics.remoteUp.set({ remote: LOCAL }, inTrouble ? 0 : 1),
    });
  }

  /**
   * Writes, when it is its turn.
   *
   * @throws RemoteWritesError when its remote must wait, before it takes a turn from another; NotLeadingError; what `send` throws
   */
  async write<T>(
    { payer, isDeletion, event, ...counted }: LocalWrite,
    send: (options: WriteOptions) => Promise<T>,
  ): Promise<T> {
    if (payer !== undefined) this.#budgets.spend(payer, { isDeletion });
    const written = await this.#limiter.run(() =>
      this.#options.leadership.guard(({ signal, check }) => send({ signal, beforeSend: check })),
    );
    const { event: said, facts } = event();
    this.#log.written(said, facts);
    this.#count(counted);
    return written;
  }

  /** A reconcile failed. @returns whether a write did: what only waits for its turn has not failed */
  failed(failure: { readonly key: string; readonly error: unknown; readonly retryInMs: number }): boolean {
    if (failure.error instanceof NotLeadingError || failure.error instanceof RemoteWritesError) return false;
    this.#log.failed(failure);
    return true;
  }

  #count({ since, remote, repairs: repaired }: Pick<LocalWrite, 'since' | 'remote' | 'repairs'>): void {
    const { propagation, repairs } = this.#options.metrics;
    if (since !== undefined) {
      if (remote !== undefined) propagation.observe({ remote }, (performance.now() - since) / 1000);
    } else if (repaired !== undefined) repairs.inc({ remote: repaired });
  }
}
