import { TokenBucket } from '@kube-semaphore/controller';
import type { Instruments, Logger, sharedMetrics } from '@kube-semaphore/runtime';

/** A local write for a remote must wait, as there were too many of them. It is retried. */
export class RemoteWritesError extends Error {
  readonly code = 'REMOTE_WRITES_WAIT';
  override readonly name = 'RemoteWritesError';
  /** How long until its turn. */
  readonly retryAfterMs: number;
  /** Gives the turn to others: its key has nothing to write any more. */
  readonly withdraw: () => void;

  constructor(remote: string, retryAfterMs: number, withdraw: () => void = () => undefined) {
    super(`${remote} exceeds its budget of local writes`);
    this.retryAfterMs = retryAfterMs;
    this.withdraw = withdraw;
  }
}

export type RemoteWritesOptions = {
  /** How many objects a remote has here: a burst may write each of them once. */
  readonly objectsOf: (remote: string) => number;
  /** Writes for one remote in the long run: `-max-remote-writes`. */
  readonly perSecond: number;
  readonly metrics: Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'remoteOverBudget'>;
  readonly log: Logger;
};

/** The initial budget, in seconds' worth of writes: 20,000 by default, twice what the largest first sync needs. */
const INITIAL_SECONDS = 1_000;

/** The later budget: 1,000 by default, or one for each object, as a lost zone or a rollout may change them all. */
const BURST_SECONDS = 50;

/** How long a remote counts as over its budget after its last write that had to wait. */
const OVER_MS = 60_000;

/** A key that missed its turn for so long has nothing to write any more. */
const MISSED_MS = 60_000;

type Budget = {
  readonly bucket: TokenBucket;
  /** Of keys that had to wait, in their order: when each may write next, which is spent already. Monotonic. */
  readonly turns: Map<string, number>;
  over: NodeJS.Timeout | undefined;
};

export type Spending = {
  /** What is reconciled. Keys take turns, so one that changes without end doesn't get what another waits for. */
  readonly key: string;
  readonly isDeletion: boolean;
};

/**
 * How many local writes each remote may cause. A remote whose objects change without end must not slow down the local
 * API server, nor other remotes.
 */
export class RemoteWrites {
  readonly #options: RemoteWritesOptions;
  readonly #budgets = new Map<string, Budget>();

  constructor(options: RemoteWritesOptions) {
    this.#options = options;
  }

  /** The config has a remote. */
  begin(remote: string): void {
    const { perSecond, objectsOf, metrics } = this.#options;
    const burst = (): number => Math.max(BURST_SECONDS * perSecond, objectsOf(remote));
    const bucket = new TokenBucket({ initial: INITIAL_SECONDS * perSecond, burst, perSecond });
    this.#budgets.set(remote, { bucket, turns: new Map(), over: undefined });
    metrics.remoteOverBudget.set({ remote, budget: 'writes' }, 0);
  }

  /** The remote left the config. */
  end(remote: string): void {
    clearTimeout(this.#budgets.get(remote)?.over);
    this.#budgets.delete(remote);
  }

  /** Whether the config has it. */
  has(remote: string): boolean {
    return this.#budgets.has(remote);
  }

  /**
   * Before a write for a remote. A deletion counts, but never waits: what a remote withdraws must go at once, and no
   * more objects can be deleted than were created.
   *
   * @throws RemoteWritesError if it must wait
   */
  spend(remote: string, { key, isDeletion }: Spending): void {
    const budget = this.#budgets.get(remote);
    // What was decided before the remote left the config.
    if (budget === undefined) return;
    const { bucket, turns } = budget;
    if (isDeletion) {
      bucket.take();
      return;
    }
    const now = performance.now();
    this.#forgetMissed(turns, now);
    const turn = turns.get(key) ?? now + bucket.reserve();
    if (turn > now) {
      turns.set(key, turn);
      this.#setOver(remote, budget);
      throw new RemoteWritesError(remote, turn - now, () => this.#withdraw(budget, key, turn));
    }
    turns.delete(key);
  }

  #withdraw({ bucket, turns }: Budget, key: string, turn: number): void {
    if (turns.get(key) !== turn || turn <= performance.now()) return;
    turns.delete(key);
    bucket.giveBack();
  }

  #forgetMissed(turns: Budget['turns'], now: number): void {
    for (const [key, turn] of turns) {
      if (turn > now - MISSED_MS) return;
      turns.delete(key);
    }
  }

  #setOver(remote: string, budget: Budget): void {
    if (budget.over !== undefined) {
      budget.over.refresh();
      return;
    }
    const { metrics, log, perSecond } = this.#options;
    const labels = { remote, budget: 'writes' } as const;
    metrics.remoteOverBudget.set(labels, 1);
    log.warn({ cluster: remote, perSecond }, 'remote exceeds its budget of local writes; writes wait');
    budget.over = setTimeout(() => {
      budget.over = undefined;
      metrics.remoteOverBudget.set(labels, 0);
    }, OVER_MS).unref();
  }
}
