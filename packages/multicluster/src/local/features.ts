import { type AddOptions, Controller, type ReconcileContext } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Instruments, leaderMetrics } from '@kube-semaphore/runtime';
import { everyPeriod } from '../periodic.ts';
import { type KeyWrites, WaitingWrites } from './waiting-writes.ts';
import type { FailedWrite } from './write-log.ts';

type ControllerOptions = ConstructorParameters<typeof Controller>[0];

/** What a reconcile gets besides its key. */
export type KeyContext = ReconcileContext & { readonly writes: KeyWrites };

export type LeaderOptions = {
  readonly leadership: Leadership;
  readonly options: { readonly writeConcurrency: number; readonly minWriteIntervalMs: number };
  readonly metrics: Pick<Instruments<ReturnType<typeof leaderMetrics>>, 'failingObjects'>;
};

/** What a leader needs of a feature, which has keys of its own. */
export type Feature = {
  /** As of a `Controller`. A write that fails is no failure of the reconcile. */
  reconcile(key: string, context: KeyContext): Promise<void>;
  /** A write failed, or the whole reconcile, which has no `object`. Both are tried again. */
  failed(failure: FailedWrite): void;
  /** This replica leads now. Enqueues every key, as the previous leader may have left some undone. */
  startLeading(options: RunOptions): void;
};

type LeaderQueueOptions = LeaderOptions & Pick<ControllerOptions, 'observer'> & { readonly feature: Feature };

/** Every object may fail for a moment. */
const FAILING_MS = 60_000;

/** How often to count the objects that fail. */
const SAMPLE_MS = 5_000;

/** A reconcile that finds nothing to do takes a fraction of it. */
const PAUSE_MS_PER_KEY = 1;

/** Leads, while this replica holds the Lease: works on the queues of all features. A standby decides nothing. */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #queues: LeaderQueue[] = [];

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  /** The queue of one more feature. To be called before `run`. */
  queue(feature: Feature, more: Pick<ControllerOptions, 'observer'> = {}): LeaderQueue {
    const queue = new LeaderQueue({ ...this.#options, ...more, feature });
    this.#queues.push(queue);
    return queue;
  }

  /** Of all queues, as `Controller.longestRunningMs`. */
  get longestRunningMs(): number {
    return Math.max(0, ...this.#queues.map((queue) => queue.longestRunningMs));
  }

  /** Works until `signal` is aborted and the running reconciles have returned. */
  async run({ signal }: RunOptions): Promise<void> {
    const onStartedLeading = (running: RunOptions): void => {
      for (const queue of this.#queues) queue.startLeading(running);
    };
    // When it stops leading, its writes are refused, and the next term begins with every key.
    const lead = this.#options.leadership.run({ signal, onStartedLeading, onStoppedLeading: () => undefined });
    const counting = everyPeriod(SAMPLE_MS, () => this.#countFailing(), { signal });
    await Promise.all([...this.#queues.map((queue) => queue.run({ signal })), lead, counting]);
  }

  #countFailing(): void {
    const { failingObjects } = this.#options.metrics;
    const counts = new Map<string, number>();
    for (const queue of this.#queues)
      for (const [kind, count] of queue.failing({ forMs: FAILING_MS }))
        counts.set(kind, (counts.get(kind) ?? 0) + count);
    failingObjects.reset();
    for (const [kind, count] of counts) failingObjects.set({ kind }, count);
  }
}

/** The keys of one feature. A standby drops them, as its stores are warm. */
export class LeaderQueue {
  readonly #feature: Feature;
  readonly #controller: Controller;
  readonly #writes: WaitingWrites;
  #mayEnqueueAllAt = -Infinity;
  #enqueuesAll: NodeJS.Timeout | undefined;

  constructor({ leadership, feature, options, ...more }: LeaderQueueOptions) {
    const { writeConcurrency, minWriteIntervalMs } = options;
    const onFailure = (failure: FailedWrite): void => feature.failed(failure);
    this.#feature = feature;
    this.#writes = new WaitingWrites({ onFailure, onDue: (key, since) => this.#controller.enqueue(key, since) });
    this.#controller = new Controller({
      ...more,
      onFailure,
      reconcile: async (key, context) => {
        if (!leadership.isLeader) {
          // What it tried to write as the leader is the business of another one, and fails here no longer.
          this.#writes.forget([key]);
          return { wrote: false };
        }
        const writes = this.#writes.begin(key, context);
        try {
          await feature.reconcile(key, { ...context, writes });
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
  enqueue(keys: Iterable<string>, since?: number, options?: AddOptions): void {
    for (const key of keys) {
      if (options?.isUrgent === true) this.#writes.forget([key]);
      this.#controller.enqueue(key, since, options);
    }
  }

  /**
   * Enqueues every key: at once, or, for all who ask meanwhile, after a pause that grows with the number of keys. Each cluster asks
   * for it when it is listed, as others may have waited for it; hundreds of clusters would make that quadratic.
   */
  enqueueAll(keys: () => Iterable<string>, since?: number): void {
    if (this.#enqueuesAll !== undefined) return;
    const enqueue = (): void => {
      const all = [...keys()];
      this.#enqueuesAll = undefined;
      this.#mayEnqueueAllAt = performance.now() + all.length * PAUSE_MS_PER_KEY;
      this.enqueue(all, since);
    };
    const waitMs = this.#mayEnqueueAllAt - performance.now();
    if (waitMs > 0) this.#enqueuesAll = setTimeout(enqueue, waitMs).unref();
    else enqueue();
  }

  startLeading(running: RunOptions): void {
    this.#writes.forget();
    this.#feature.startLeading(running);
  }

  /** As `WaitingWrites.failing`. */
  failing(options: Parameters<WaitingWrites['failing']>[0]): ReadonlyMap<string, number> {
    return this.#writes.failing(options);
  }

  async run(running: RunOptions): Promise<void> {
    await this.#controller.run(running);
    clearTimeout(this.#enqueuesAll);
  }
}
