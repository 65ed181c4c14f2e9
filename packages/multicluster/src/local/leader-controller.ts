import { Controller } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';

type ControllerOptions = ConstructorParameters<typeof Controller>[0];

export type LeaderControllerOptions = Pick<ControllerOptions, 'reconcile' | 'observer' | 'onFailure'> & {
  readonly leadership: Leadership;
  readonly options: { readonly writeConcurrency: number; readonly minWriteIntervalMs: number };
  /** Enqueues every key, as the previous leader may have left some undone. */
  readonly onStartedLeading: (options: RunOptions) => void;
};

/** Reconciles keys while this replica leads. A standby decides nothing: its stores are warm, and it drops its keys. */
export class LeaderController {
  readonly #options: LeaderControllerOptions;
  readonly #controller: Controller;

  constructor(options: LeaderControllerOptions) {
    const { leadership, reconcile } = options;
    const { writeConcurrency, minWriteIntervalMs } = options.options;
    this.#options = options;
    this.#controller = new Controller({
      ...options,
      reconcile: async (key, context) => (leadership.isLeader ? reconcile(key, context) : { wrote: false }),
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
    for (const key of keys) this.#controller.enqueue(key, since, options);
  }

  /** Works until `signal` is aborted and the running reconciles have returned. */
  async run({ signal }: RunOptions): Promise<void> {
    const { leadership, onStartedLeading } = this.#options;
    // When it stops leading, its writes are refused, and the next term begins with every key.
    const lead = leadership.run({ signal, onStartedLeading, onStoppedLeading: () => undefined });
    await Promise.all([this.#controller.run({ signal }), lead]);
  }
}
