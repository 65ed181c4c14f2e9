import { Controller, type ReconcileContext } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Instruments, leaderMetrics } from '@kube-semaphore/runtime';
import { everyPeriod } from '../periodic.ts';
import { type KeyWrites, WaitingWrites } from './waiting-writes.ts';
import type { FailedWrite } from './write-log.ts';

type ControllerOptions = ConstructorParameters<typeof Controller>[0];

/** What a reconcile gets besides its key. */
export type KeyContext = ReconcileContext & { readonly writes: KeyWrites };

export type LeaderControllerOptions = Pick<ControllerOptions, 'observer'> & {
  readonly leadership: Leadership;
  readonly options: { readonly writeConcurrency: number; readonly minWriteIntervalMs: number };
  readonly metrics: Pick<Instruments<ReturnType<typeof leaderMetrics>>, 'failingObjects'>;
  /** As of a `Controller`. A write that fails is no failure of the reconcile. */
  readonly reconcile: (key: string, context: KeyContext) => Promise<void>;
  /** A write failed, or the whole reconcile, which has no `object`. Both are tried again. */
  readonly onFailure: (failure: FailedWrite) => void;
  /** Enqueues every key, as the previous leader may have left some undone. */
  readonly onStartedLeading: (options: RunOptions) => void;
};

/** Every object may fail for a moment. */
const FAILING_MS = 60_000;

/** How often to count the objects that fail. */
const SAMPLE_MS = 5_000;

/** Reconciles keys while this replica leads. A standby decides nothing: its stores are warm, and it drops its keys. */
export class LeaderController {
  readonly #options: LeaderControllerOptions;
  readonly #controller: Controller;
  readonly #writes: WaitingWrites;

  constructor(options: LeaderControllerOptions) {
    const { leadership, reconcile, onFailure } = options;
    const { writeConcurrency, minWriteIntervalMs } = options.options;
    this.#options = options;
    this.#writes = new WaitingWrites({ onFailure, onDue: (key, since) => this.#controller.enqueue(key, since) });
    this.#controller = new Controller({
      ...options,
      reconcile: async (key, context) => {
        if (!leadership.isLeader) return { wrote: false };
        const writes = this.#writes.begin(key, context);
        try {
          await reconcile(key, { ...context, writes });
        } finally {
          this.#writes.end(writes);
        }
        return { wrote: writes.isBusy, failed: writes.hasFailed };
      },
      workers: writeConcurrency,
      minWriteIntervalMs,
    });
  }

  /** As `Controller.longestRunningMs`. */
  get longestRunningMs(): number {
    return this.#controller.longestRunningMs;
  }

  /** @param since as `ReconcileContext.since` */
  enqueue(keys: Iterable<string>, since?: number, options?: Parameters<Controller['enqueue']>[2]): void {
    for (const key of keys) {
      if (options?.isUrgent === true) this.#writes.forget([key]);
      this.#controller.enqueue(key, since, options);
    }
  }

  /** Works until `signal` is aborted and the running reconciles have returned. */
  async run({ signal }: RunOptions): Promise<void> {
    const { leadership } = this.#options;
    const onStartedLeading = (running: RunOptions): void => {
      this.#writes.forget();
      this.#options.onStartedLeading(running);
    };
    // When it stops leading, its writes are refused, and the next term begins with every key.
    const lead = leadership.run({ signal, onStartedLeading, onStoppedLeading: () => undefined });
    const counting = everyPeriod(SAMPLE_MS, () => this.#countFailing(), { signal });
    await Promise.all([this.#controller.run({ signal }), lead, counting]);
  }

  #countFailing(): void {
    const { metrics } = this.#options;
    metrics.failingObjects.reset();
    for (const [kind, count] of this.#writes.failing({ forMs: FAILING_MS }))
      metrics.failingObjects.set({ kind }, count);
  }
}
