import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { LeaseClaim, type LeaseEvents } from './claim.ts';
import { LeaseClaims } from './claims.ts';
import { type LeaderClock, machineClock, sleep } from './clock.ts';
import type { LeaseLock } from './lock.ts';
import type { LeaderTimes } from './state.ts';
import { LeaderTerm } from './term.ts';
import { NotLeadingError, type Write } from './writes.ts';
import { type Leadership, type LeadershipRun, SHUTDOWN_GRACE_MS } from './leadership.ts';

export type LeaderHooks = LeaseEvents & {
  /** This replica started or stopped leading. */
  readonly onChange: (isLeader: boolean) => void;
};

export type LeaderElectorOptions = LeaderTimes & {
  readonly lock: LeaseLock;
  /** The Lease of replicas of an earlier release: this one leads only while it holds that, too. */
  readonly previousLock?: LeaseLock | undefined;
  /** Unique for this process, even among those of the same container: `leaderIdentity()`. */
  readonly identity: string;
  readonly hooks?: Partial<LeaderHooks>;
  readonly clock?: LeaderClock;
  /** In [0, 1). */
  readonly random?: () => number;
};

const ignore = (): void => undefined;

/**
 * Leads while it holds a Lease, by the protocol of client-go's leaderelection: a replica in Go and one of ours never
 * both lead. Unlike there, a replica that loses the Lease continues, and waits for it.
 *
 * No write begins later than `renewDeadlineMs` after the last renewal was sent, and each ends or is aborted before
 * another replica may lead, even if the process was stopped in between: see `LeaderTerm`. A request that was sent in
 * time may still arrive late. So updates and deletes carry the resourceVersion that they were decided by, and change
 * nothing newer. The next leader repairs an object that is created too late, as it does one that people create.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #hooks: LeaderHooks;
  readonly #clock: LeaderClock;
  readonly #claims: LeaseClaims;
  #term: LeaderTerm | undefined;

  constructor(options: LeaderElectorOptions) {
    const { lock, previousLock, clock = machineClock } = options;
    const hooks = { onChange: ignore, onNewLeader: ignore, onFailure: ignore, onAnswer: ignore, ...options.hooks };
    this.#options = options;
    this.#hooks = hooks;
    this.#clock = clock;
    // In this order: a replica that can't get the new Lease doesn't stop those of the earlier release.
    const locks = previousLock === undefined ? [lock] : [lock, previousLock];
    this.#claims = new LeaseClaims(locks.map((each) => new LeaseClaim({ ...options, ...hooks, lock: each, clock })));
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
    // A write that was aborted may still arrive, so the others must wait until the Lease ends.
    if (isClean) await this.#claims.release();
  }

  /** @returns when the request was sent that took the Lease, or undefined if `signal` was aborted first */
  async #acquire({ signal }: RunOptions): Promise<number | undefined> {
    const { renewDeadlineMs, random = Math.random } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#claims.attempt({ signal, leads: false });
      // A Lease whose answer took too long only improves the next attempt.
      if (attempt.kind === 'held' && this.#clock.now() - attempt.sentAtMs < renewDeadlineMs) return attempt.sentAtMs;
      await sleep(this.#claims.nextAttemptMs(random), { signal, clock: this.#clock });
    }
    return undefined;
  }

  /** @returns whether no write of this term was aborted */
  async #lead(sentAtMs: number, { signal, onStartedLeading, onStoppedLeading }: LeadershipRun): Promise<boolean> {
    const term = new LeaderTerm({ times: this.#options, clock: this.#clock });
    const stop = (): void => term.end();
    signal.addEventListener('abort', stop, { once: true });
    term.renewed(sentAtMs);
    this.#term = term;
    try {
      this.#hooks.onChange(true);
      onStartedLeading({ signal: term.signal });
      await this.#renew(term);
    } finally {
      signal.removeEventListener('abort', stop);
      term.end();
      this.#hooks.onChange(false);
      onStoppedLeading();
    }
    // The next term begins after all writes of this one.
    return term.drain({ signal, graceMs: SHUTDOWN_GRACE_MS });
  }

  /** Renews the Lease until the term ends. */
  async #renew(term: LeaderTerm): Promise<void> {
    while (term.isOpen) {
      await sleep(this.#options.retryPeriodMs, { signal: term.signal, clock: this.#clock });
      if (!term.isOpen) return;
      const attempt = await this.#claims.attempt({ signal: term.signal, leads: true });
      if (attempt.kind === 'held') term.renewed(attempt.sentAtMs);
      else if (attempt.kind === 'taken') term.cutOff();
    }
  }
}

/** Names this process as client-go does: by the host, for people, and a unique suffix. */
export const leaderIdentity = (): string => `${hostname()}_${randomUUID()}`;
