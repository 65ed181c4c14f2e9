import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { LeaseClaim } from './claim.ts';
import { LeaseClaims } from './claims.ts';
import { type LeaderClock, machineClock, sleep } from './clock.ts';
import type { LeaseLock } from './lock.ts';
import type { LeaderTimes } from './state.ts';
import { LeaderTerm } from './term.ts';
import { NotLeadingError, type Write } from './writes.ts';
import { type Leadership, type LeadershipRun, SHUTDOWN_GRACE_MS } from './leadership.ts';

export type LeaderHooks = {
  /** This replica began to lead, or ceased to. */
  readonly onChange?: (isLeader: boolean) => void;
  /** The Lease has another holder than before, possibly us. */
  readonly onNewLeader?: (identity: string, lease: string) => void;
  /** The Lease could not be read or written; it is tried again after the retry period. */
  readonly onFailure?: (error: unknown, lease: string) => void;
  /** The Lease was read or written. */
  readonly onAnswer?: (lease: string) => void;
};

export type LeaderElectorOptions = LeaderTimes & {
  readonly lock: LeaseLock;
  /** Of replicas of an earlier release: this one leads only while it holds that Lease as well. */
  readonly previousLock?: LeaseLock | undefined;
  /** Of this process and no other, not even the one before it in the same container: `leaderIdentity()`. */
  readonly identity: string;
  readonly hooks?: LeaderHooks;
  readonly clock?: LeaderClock;
  /** In [0, 1). */
  readonly random?: () => number;
};

/**
 * Leads while it holds a Lease, by the protocol of client-go's leaderelection: a replica in Go and one of ours never
 * both lead. Unlike there, a replica that loses the Lease goes on as one that waits for it.
 *
 * No write begins later than `renewDeadlineMs` after the last renewal was sent, and each ends or is aborted before
 * anybody else may lead, also if the process was stopped in between: see `LeaderTerm`. What can't be had on this side
 * of the API server is that a request which was sent in time also arrives in time. So updates and deletes carry the
 * resourceVersion that they were decided by, and change nothing that is newer; an object that is created too late is
 * the next leader's to put right, as is one that somebody creates by hand.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #clock: LeaderClock;
  readonly #claim: LeaseClaims;
  #term: LeaderTerm | undefined;

  constructor(options: LeaderElectorOptions) {
    const { lock, previousLock, hooks, clock = machineClock } = options;
    this.#options = options;
    this.#clock = clock;
    const claimTo = (each: LeaseLock): LeaseClaim =>
      new LeaseClaim({
        ...options,
        lock: each,
        clock,
        onNewLeader: (identity, lease) => hooks?.onNewLeader?.(identity, lease),
        onFailure: (error, lease) => hooks?.onFailure?.(error, lease),
        onAnswer: (lease) => hooks?.onAnswer?.(lease),
      });
    // In this order: a replica that can't have the new Lease doesn't keep those of the earlier release from leading.
    this.#claim = new LeaseClaims([lock, ...(previousLock ? [previousLock] : [])].map(claimTo));
  }

  get isLeader(): boolean {
    return this.#term?.isOpen === true;
  }

  async guard<T>(write: Write<T>): Promise<T> {
    if (this.#term === undefined) throw new NotLeadingError();
    return this.#term.guard(write);
  }

  async run(options: LeadershipRun): Promise<void> {
    const { signal } = options;
    let isClean = true;
    while (!signal.aborted) {
      const sentAtMs = await this.#acquire({ signal });
      if (sentAtMs !== undefined && !signal.aborted) isClean = await this.#lead(sentAtMs, options);
    }
    // After a write that was cut off and may still land, the others wait out the Lease.
    if (isClean) await this.#claim.release();
  }

  /** @returns when the request was sent that took the Lease, or undefined if `signal` was aborted first */
  async #acquire({ signal }: RunOptions): Promise<number | undefined> {
    const { renewDeadlineMs, random = Math.random } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#claim.attempt({ signal, leads: false });
      // What took too long to be answered is of no use, but for a better chance the next time.
      if (attempt.kind === 'held' && this.#clock.now() - attempt.sentAtMs < renewDeadlineMs) return attempt.sentAtMs;
      await sleep(this.#claim.nextLookMs(random), { signal, clock: this.#clock });
    }
    return undefined;
  }

  /** @returns whether all writes of this term ended by themselves */
  async #lead(sentAtMs: number, { signal, onStartedLeading, onStoppedLeading }: LeadershipRun): Promise<boolean> {
    const { hooks } = this.#options;
    const term = new LeaderTerm({ times: this.#options, clock: this.#clock });
    const stop = (): void => term.end();
    signal.addEventListener('abort', stop, { once: true });
    term.renewed(sentAtMs);
    this.#term = term;
    try {
      hooks?.onChange?.(true);
      onStartedLeading({ signal: term.signal });
      await this.#renew(term);
    } finally {
      signal.removeEventListener('abort', stop);
      term.end();
      hooks?.onChange?.(false);
      onStoppedLeading();
    }
    // The next term begins when nothing of this one runs any more.
    return term.drain({ signal, graceMs: SHUTDOWN_GRACE_MS });
  }

  /** Renews the Lease until the term is over. */
  async #renew(term: LeaderTerm): Promise<void> {
    while (term.isOpen) {
      await sleep(this.#options.retryPeriodMs, { signal: term.signal, clock: this.#clock });
      if (!term.isOpen) return;
      const attempt = await this.#claim.attempt({ signal: term.signal, leads: true });
      if (attempt.kind === 'held') term.renewed(attempt.sentAtMs);
      else if (attempt.kind === 'taken') term.cutOff();
    }
  }
}

/** Names this process as client-go does: by the host, for people, and by something that is never used again. */
export const leaderIdentity = (): string => `${hostname()}_${randomUUID()}`;
