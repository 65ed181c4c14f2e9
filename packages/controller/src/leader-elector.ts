import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { KubeApiError, type RunOptions } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import { type LeaderClock, machineClock, sleep, within } from './leader-clock.ts';
import type { LeaseLock } from './leader-lock.ts';
import { decide, type LeaderTimes, nextLookMs, released, see, UNSEEN } from './leader-state.ts';
import { LeaderTerm } from './leader-term.ts';
import { NotLeadingError, type Write } from './leader-writes.ts';
import { type Leadership, type LeadershipRun, SHUTDOWN_GRACE_MS } from './leadership.ts';

export type LeaderHooks = {
  /** This replica began to lead, or ceased to. */
  readonly onChange?: (isLeader: boolean) => void;
  /** The identity of another holder of the Lease than before, possibly our own. */
  readonly onNewLeader?: (identity: string) => void;
  /** The Lease could not be read or written; it is tried again after the retry period. */
  readonly onFailure?: (error: unknown) => void;
};

export type LeaderElectorOptions = LeaderTimes & {
  readonly lock: LeaseLock;
  /** This process, and no other, not even the same container's last one: see `leaderIdentity`. */
  readonly identity: string;
  readonly hooks?: LeaderHooks;
  readonly clock?: LeaderClock;
  /** In [0, 1). */
  readonly random?: () => number;
};

type Attempt = { readonly kind: 'held'; readonly sentAtMs: number } | { readonly kind: 'taken' | 'failed' };

/** Less than what runtime gives a process to stop, together with the grace for writes. */
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * Leads while it holds a Lease, by the protocol of client-go's leaderelection: a replica in Go and one of ours never
 * lead both. It differs in what happens after a loss: it tries again, with stores that stayed warm.
 *
 * No write begins later than `renewDeadlineMs` after the last renewal was sent, and each ends or is aborted before
 * anybody else may lead, also if the process was stopped in between (`LeaderTerm`). What can't be had on this side of
 * the API server is that a request which was sent in time also arrives in time: hence every update and delete carries
 * the resourceVersion that its decision was made by, and a create is an object that the leader then puts right.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #clock: LeaderClock;
  #term: LeaderTerm | undefined;
  #seen = UNSEEN;
  /** What was seen last is what we wrote last, so that it can be renewed without another look. */
  #isOwn = false;
  /** The Lease may have our name in it, whether or not there was an answer. */
  #mayHold = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? machineClock;
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
    // After a write that may still land, the others wait out the Lease.
    if (isClean && this.#mayHold) await this.#release();
  }

  /** @returns when the request was sent that took the Lease, or undefined if `signal` was aborted before */
  async #acquire({ signal }: RunOptions): Promise<number | undefined> {
    const { retryPeriodMs, random = Math.random } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#attempt({ signal, leads: false });
      if (attempt.kind === 'held') return attempt.sentAtMs;
      const delayMs = nextLookMs(this.#seen, { nowMs: this.#clock.now(), retryPeriodMs, random });
      await sleep(delayMs, { signal, clock: this.#clock });
    }
    return undefined;
  }

  /** One term. @returns whether all of its writes ended by themselves */
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

  /** Renews until the term is over. */
  async #renew(term: LeaderTerm): Promise<void> {
    while (term.isOpen) {
      await sleep(this.#options.retryPeriodMs, { signal: term.signal, clock: this.#clock });
      if (!term.isOpen) return;
      const attempt = await this.#attempt({ signal: term.signal, leads: true });
      if (attempt.kind === 'held') term.renewed(attempt.sentAtMs);
      else if (attempt.kind === 'taken') term.cutOff();
    }
  }

  /** Tries once to have the Lease written in our name. Rejects never. */
  async #attempt(role: RunOptions & { leads: boolean }): Promise<Attempt> {
    const wasOwn = this.#isOwn;
    try {
      if (!wasOwn) await this.#look(role);
      return await this.#claim(role);
    } catch (error) {
      this.#isOwn = false;
      const isConflict = error instanceof KubeApiError && error.status === 409;
      // Somebody wrote it since, if only a label. After a look, it was somebody quicker.
      if (isConflict && wasOwn) return this.#attempt(role);
      if (!isConflict && !role.signal.aborted) this.#options.hooks?.onFailure?.(error);
      return { kind: 'failed' };
    }
  }

  async #look({ signal }: RunOptions): Promise<void> {
    this.#see(await this.#request((options) => this.#options.lock.read(options), { signal }));
  }

  async #claim({ signal, leads }: RunOptions & { leads: boolean }): Promise<Attempt> {
    const { lock, identity, leaseDurationMs } = this.#options;
    const [sentAtMs, epochMs] = [this.#clock.now(), this.#clock.epochMs()];
    const decision = decide(this.#seen, { identity, leads, leaseDurationMs, nowMs: sentAtMs, epochMs });
    if (decision.kind === 'wait') return { kind: 'taken' };
    this.#mayHold = true;
    const write = (options: RunOptions): Promise<Lease> =>
      decision.kind === 'create' ? lock.create(decision.spec, options) : lock.update(decision.lease, options);
    this.#see(await this.#request(write, { signal }));
    this.#isOwn = true;
    return { kind: 'held', sentAtMs };
  }

  /** So that one request that hangs doesn't cost the Lease, it has half of the time: as with client-go. */
  #request<T>(call: (options: RunOptions) => Promise<T>, { signal }: RunOptions): Promise<T> {
    return within(this.#options.renewDeadlineMs / 2, call, { signal, clock: this.#clock });
  }

  #see(lease: Lease | undefined): void {
    const { leaseDurationMs, identity, hooks } = this.#options;
    const before = this.#seen.holder;
    this.#seen = see(this.#seen, lease, { nowMs: this.#clock.now(), leaseDurationMs });
    const { holder } = this.#seen;
    this.#mayHold = holder === identity;
    if (holder !== before && holder !== '') hooks?.onNewLeader?.(holder);
  }

  async #release(): Promise<void> {
    const { lock, identity, hooks } = this.#options;
    const { signal } = new AbortController();
    const release = async (options: RunOptions): Promise<void> => {
      const lease = await lock.read(options);
      if (lease?.spec.holderIdentity === identity) await lock.update(released(lease, this.#clock.epochMs()), options);
    };
    try {
      await within(RELEASE_TIMEOUT_MS, release, { signal, clock: this.#clock });
    } catch (error) {
      hooks?.onFailure?.(error);
    }
  }
}

/** Names this process as client-go names its own: by the host, for people, and by something that is never used again. */
export const leaderIdentity = (): string => `${hostname()}_${randomUUID()}`;
