import type { RunOptions } from '@kube-semaphore/kube-client';
import { everyPeriod, type LeaderQueue } from '@kube-semaphore/multicluster';
import { type DownLevels, NO_LEVELS } from './desired/routing/roles.ts';
import type { RoutingState } from './desired/routing/route.ts';

/** How often to look for Services that time changes. */
const DUE_MS = 1_000;

/** What the last decision about each Service with an order of clusters left for the next one, by key. */
export class RoutingStates {
  readonly #now: () => number;
  /** Without those that left nothing. */
  readonly #states = new Map<string, RoutingState>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** For the next decision about a key. */
  next(key: string): { readonly down: DownLevels; readonly nowMs: number } {
    return { down: this.#states.get(key)?.down ?? NO_LEVELS, nowMs: this.#now() };
  }

  /** @param state undefined: the Service has no order */
  keep(key: string, state: RoutingState | undefined): void {
    if (state === undefined || state.down.size === 0) this.#states.delete(key);
    else this.#states.set(key, state);
  }

  /** The keys for which time has changed what they want. */
  dueKeys(): readonly string[] {
    const nowMs = this.#now();
    return [...this.#states].filter(([, { dueMs = Infinity }]) => dueMs <= nowMs).map(([key]) => key);
  }

  /** Enqueues those keys until `signal` is aborted. */
  run(queue: Pick<LeaderQueue, 'enqueue'>, running: RunOptions): Promise<void> {
    return everyPeriod(DUE_MS, () => queue.enqueue(this.dueKeys()), running);
  }
}
