import { backoffMs } from './backoff.ts';
import { Pace } from './pace.ts';
import { Turns } from './turns.ts';
import { type AddOptions, type Now, Workqueue } from './workqueue.ts';

/** What a reconcile did: a key that is written often is delayed after a write. */
export type Outcome = {
  readonly wrote: boolean;
  /** For the observer: a part of it failed, and the reconciler will try that again. Default: no. */
  readonly failed?: boolean;
};

export type ReconcileContext = {
  readonly signal: AbortSignal;
  /** Monotonic milliseconds (`performance.now()`) of the oldest event that this reconcile answers; undefined: none. */
  readonly since: number | undefined;
};

/** What happens to each key of the queue; called synchronously. */
export type QueueObserver = {
  /** A key waits, and didn't before. */
  readonly added: (key: string) => void;
  /** A worker took it. */
  readonly started: (key: string) => void;
  readonly ended: (key: string, outcome: { readonly failed: boolean }) => void;
};

export type ControllerOptions = {
  /**
   * Makes the objects of `key` match the stores. Level-based: it reads the present state, doesn't know which event woke
   * it, and is safe to run twice. An error means a retry, after a backoff or its `retryAfterMs`.
   */
  readonly reconcile: (key: string, context: ReconcileContext) => Promise<Outcome>;
  readonly workers: number;
  /** The time between two writes of a key in the long run; a few may follow each other at once. */
  readonly minWriteIntervalMs: number;
  /** A reconcile failed, and will be retried. */
  readonly onFailure: (failure: { key: string; error: unknown; retryInMs: number }) => void;
  /** For metrics. */
  readonly observer?: QueueObserver;
  readonly now?: Now;
};

/** Enough for the Pods of a rolling update that change one by one; 1,000 changes within 5 s are at most 31 writes. */
const WRITE_BURST = 5;

const BACKOFF = { baseMs: 50, maxMs: 10_000 };

/** A workqueue and its workers. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: Workqueue;
  readonly #pace: Pace;
  readonly #turns: Turns;
  readonly #now: Now;
  readonly #started = new Set<{ at: number }>();

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#queue = new Workqueue({ now: this.#now });
    this.#pace = new Pace({ burst: WRITE_BURST, intervalMs: options.minWriteIntervalMs, now: this.#now });
    this.#turns = new Turns(this.#now);
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#queue.depth;
  }

  /** How long the oldest running reconcile has run, in ms; 0 without one. */
  get longestRunningMs(): number {
    let first = Infinity;
    for (const { at } of this.#started) first = Math.min(first, at);
    return first === Infinity ? 0 : this.#now() - first;
  }

  /** @param since as `ReconcileContext.since` */
  enqueue(key: string, since?: number, options?: AddOptions): void {
    if (this.#queue.add(key, since, options)) this.#options.observer?.added(key);
  }

  /** Works until `signal` is aborted and the running reconciles have returned. Never rejects. */
  async run({ signal }: { signal: AbortSignal }): Promise<void> {
    const close = () => this.#queue.close();
    if (signal.aborted) close();
    signal.addEventListener('abort', close, { once: true });
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#work(signal)));
    signal.removeEventListener('abort', close);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let task = await this.#queue.take(); task !== undefined; task = await this.#queue.take()) {
      const { key, since } = task;
      // Without turns, keys that need no write would follow each other without a pause.
      await this.#turns.run(() => this.#reconcile(key, { signal, since }));
    }
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const run = { at: this.#now() };
    this.#started.add(run);
    this.#options.observer?.started(key);
    let failed = false;
    try {
      const { wrote, ...outcome } = await this.#options.reconcile(key, context);
      failed = outcome.failed ?? false;
      this.#queue.done(key, { delayMs: wrote ? this.#pace.wrote(key) : 0 });
    } catch (error) {
      failed = true;
      if (!context.signal.aborted) this.#fail(key, context.since, error);
    } finally {
      this.#started.delete(run);
      this.#options.observer?.ended(key, { failed });
    }
  }

  #fail(key: string, since: number | undefined, error: unknown): void {
    const { retryAfterMs } = error as { retryAfterMs?: number };
    const retryInMs = backoffMs(this.#queue.failures(key) + 1, BACKOFF, retryAfterMs);
    this.#options.onFailure({ key, error, retryInMs });
    this.enqueue(key, since);
    this.#queue.done(key, { failed: true, delayMs: retryInMs });
  }
}
