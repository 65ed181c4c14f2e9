import { TokenBucket } from '@kube-semaphore/controller';
import type { Instruments, Logger, sharedMetrics } from '@kube-semaphore/runtime';

/** A local write for a remote must wait, for there were too many of them; it is tried again. */
export class RemoteWritesError extends Error {
  readonly code = 'REMOTE_WRITES_WAIT';
  override readonly name = 'RemoteWritesError';
  /** When there is room for the next one. */
  readonly retryAfterMs: number;

  constructor(remote: string, retryAfterMs: number) {
    super(`${remote} causes more local writes than we make for one remote`);
    this.retryAfterMs = retryAfterMs;
  }
}

export type RemoteWritesOptions = {
  readonly remotes: readonly string[];
  /** How many objects a remote has here: so many writes it may cause at once, though they be more than usual. */
  readonly objectsOf: (remote: string) => number;
  /** Writes for one remote in the long run: `-max-remote-writes`. */
  readonly perSecond: number;
  readonly metrics: Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'remoteOverBudget'>;
  readonly log: Logger;
};

/** At first there are so many seconds' worth of writes: 20,000 by default, twice what the largest first sync takes. */
const INITIAL_SECONDS = 1_000;

/** Later so many, 1,000 by default, or one for each object: a lost zone or a rollout may change them all. */
const BURST_SECONDS = 50;

/** A remote counts as over its budget for so long after its last write that had to wait. */
const OVER_MS = 60_000;

type Budget = { readonly bucket: TokenBucket; over: NodeJS.Timeout | undefined };

/**
 * How many local writes each remote may cause, so that one whose objects change without end costs neither the local API
 * server nor the other remotes much.
 */
export class RemoteWrites {
  readonly #options: RemoteWritesOptions;
  readonly #budgets = new Map<string, Budget>();

  constructor(options: RemoteWritesOptions) {
    this.#options = options;
    for (const remote of options.remotes) options.metrics.remoteOverBudget.set({ remote, budget: 'writes' }, 0);
  }

  /**
   * Before a write for a remote. A deletion counts, but never waits: what a remote took back is to go at once, and no
   * more can be deleted than was created.
   *
   * @throws RemoteWritesError when it must wait
   */
  spend(remote: string, { isDeletion }: { readonly isDeletion: boolean }): void {
    const budget = this.#budget(remote);
    const waitMs = budget.bucket.take();
    if (waitMs === 0 || isDeletion) return;
    this.#setOver(remote, budget);
    throw new RemoteWritesError(remote, waitMs);
  }

  #budget(remote: string): Budget {
    const known = this.#budgets.get(remote);
    if (known !== undefined) return known;
    const { perSecond, objectsOf } = this.#options;
    const burst = (): number => Math.max(BURST_SECONDS * perSecond, objectsOf(remote));
    const bucket = new TokenBucket({ initial: INITIAL_SECONDS * perSecond, burst, perSecond });
    const budget: Budget = { bucket, over: undefined };
    this.#budgets.set(remote, budget);
    return budget;
  }

  #setOver(remote: string, budget: Budget): void {
    if (budget.over !== undefined) {
      budget.over.refresh();
      return;
    }
    const { metrics, log, perSecond } = this.#options;
    const labels = { remote, budget: 'writes' } as const;
    metrics.remoteOverBudget.set(labels, 1);
    log.warn({ cluster: remote, perSecond }, 'remote causes more local writes than we make for one: they wait');
    budget.over = setTimeout(() => {
      budget.over = undefined;
      metrics.remoteOverBudget.set(labels, 0);
    }, OVER_MS).unref();
  }
}
