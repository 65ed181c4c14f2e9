import { backoffMs } from './backoff.ts';
import { type Now, Workqueue } from './workqueue.ts';

/** What a reconcile did: `wrote` makes the key rest for the minimal write interval. */
export type Outcome = { readonly wrote: boolean };

export type ReconcileContext = {
  readonly signal: AbortSignal;
  /** Monotonic milliseconds (`performance.now()`) of the oldest event that this reconcile answers; undefined: it answers none. */
  readonly since: number | undefined;
};

/** What may be known of the queue, key by key; called synchronously. */
export type QueueObserver = {
  /** A key waits to be worked, and didn't before. */
  readonly added: (key: string) => void;
  /** A worker has taken it. */
  readonly started: (key: string) => void;
  readonly ended: (key: string, outcome: { readonly failed: boolean }) => void;
};

export type ControllerOptions = {
  /**
   * Makes what `key` stands for match the stores. Level-based: it reads what is now, does not know which event woke
   * it, and is safe to run twice. A throw means once more, after a backoff or the error's `retryAfterMs`.
   */
  readonly reconcile: (key: string, context: ReconcileContext) => Promise<Outcome>;
  readonly workers: number;
  /** From the end of a key's last write to its next reconcile, so that a burst of events costs few writes. */
  readonly minWriteIntervalMs: number;
  /** A failed reconcile; it is tried again. */
  readonly onFailure: (failure: { key: string; error: unknown; retryInMs: number }) => void;
  /** Sees each key come and go, for metrics. */
  readonly observer?: QueueObserver;
  readonly now?: Now;
};

const BACKOFF = { baseMs: 50, maxMs: 10_000 };

/** A workqueue and the workers that empty it. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: Workqueue;
  readonly #now: Now;
  readonly #started = new Set<{ at: number }>();

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#queue = new Workqueue({ now: this.#now });
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#queue.depth;
  }

  /** For how long the slowest reconcile of now has been running, in ms; 0 if none is. */
  get longestRunningMs(): number {
    let first = Infinity;
    for (const { at } of this.#started) first = Math.min(first, at);
    return first === Infinity ? 0 : this.#now() - first;
  }

  /** @param since as `ReconcileContext.since` */
  enqueue(key: string, since?: number): void {
    if (this.#queue.add(key, since)) this.#options.observer?.added(key);
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
      const run = { at: this.#now() };
      this.#started.add(run);
      this.#options.observer?.started(key);
      let failed = false;
      try {
        const { wrote } = await this.#options.reconcile(key, { signal, since });
        this.#queue.done(key, { restMs: wrote ? this.#options.minWriteIntervalMs : 0 });
      } catch (error) {
        failed = true;
        if (!signal.aborted) this.#fail(key, since, error);
      } finally {
        this.#started.delete(run);
        this.#options.observer?.ended(key, { failed });
      }
    }
  }

  #fail(key: string, since: number | undefined, error: unknown): void {
    const { retryAfterMs } = error as { retryAfterMs?: number };
    const retryInMs = backoffMs(this.#queue.failures(key) + 1, BACKOFF, retryAfterMs);
    this.#options.onFailure({ key, error, retryInMs });
    this.enqueue(key, since);
    this.#queue.done(key, { failed: true, restMs: retryInMs });
  }
}
