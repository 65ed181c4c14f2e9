import { KubeApiError, type RunOptions } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import { type LeaderClock, within } from './clock.ts';
import type { LeaseLock } from './lock.ts';
import { decide, type Decision, type LeaderTimes, nextLookMs, released, see, UNSEEN } from './state.ts';

export type LeaseClaimOptions = LeaderTimes & {
  readonly lock: LeaseLock;
  readonly identity: string;
  readonly clock: LeaderClock;
  readonly onNewLeader: (identity: string, lease: string) => void;
  readonly onFailure: (error: unknown, lease: string) => void;
  /** The Lease was read or written. */
  readonly onAnswer: (lease: string) => void;
};

/**
 * `held`: the Lease is written in our name, by a request that was sent then, or is missing and not ours to create. `taken`: it is another's. `failed`: it
 * couldn't be read or written, or somebody was quicker.
 */
export type Attempt = { readonly kind: 'held'; readonly sentAtMs: number } | { readonly kind: 'taken' | 'failed' };

/** Less than what a process gets to stop, together with the grace for its writes. */
const RELEASE_TIMEOUT_MS = 2_000;

/** A replica's claim to the Lease: looks at it, takes it, renews it, and gives it up. One call at a time. */
export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #seen = UNSEEN;
  /** What was seen last is what we wrote last, so it can be renewed without another look. */
  #isOwn = false;
  /** Our name may be in the Lease: it was sent there, whether or not an answer came. */
  #mayHold = false;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  /** How long to wait before another attempt of a replica that doesn't lead. */
  nextLookMs(random: () => number): number {
    const { clock, retryPeriodMs } = this.#options;
    return nextLookMs(this.#seen, { nowMs: clock.now(), retryPeriodMs, random });
  }

  /**
   * Tries once to have the Lease written in our name. Never rejects.
   *
   * @param leads whether this replica still leads by its own clock
   */
  async attempt(role: RunOptions & { leads: boolean }): Promise<Attempt> {
    const wasOwn = this.#isOwn;
    try {
      if (!wasOwn) this.#see(await this.#request((options) => this.#options.lock.read(options), role));
      return await this.#write(role);
    } catch (error) {
      this.#isOwn = false;
      const isConflict = error instanceof KubeApiError && error.status === 409;
      // Somebody changed it, if only a label of it. Right after a look, it was somebody quicker.
      if (isConflict && wasOwn) return this.attempt(role);
      if (!isConflict && !role.signal.aborted) this.#options.onFailure(error, this.#options.lock.lease);
      return { kind: 'failed' };
    }
  }

  /** Leaves the Lease to whoever comes first, if it is ours. Never rejects. */
  async release(): Promise<void> {
    const { lock, identity, clock, onFailure } = this.#options;
    if (!this.#mayHold) return;
    const give = async (options: RunOptions): Promise<void> => {
      const lease = await lock.read(options);
      if (lease?.spec.holderIdentity === identity) await lock.update(released(lease, clock.epochMs()), options);
    };
    // The process is asked to stop already: this is what it still does.
    const { signal } = new AbortController();
    await within(RELEASE_TIMEOUT_MS, give, { signal, clock }).catch((error: unknown) => onFailure(error, lock.lease));
  }

  async #write({ signal, leads }: RunOptions & { leads: boolean }): Promise<Attempt> {
    const { lock, identity, leaseDurationMs, clock } = this.#options;
    const sentAtMs = clock.now();
    const times = { leaseDurationMs, nowMs: sentAtMs, epochMs: clock.epochMs() };
    const decision = decide(this.#seen, { identity, leads, ...times });
    if (decision.kind === 'wait') return { kind: 'taken' };
    const write = writeOf(decision, lock);
    if (write === undefined) return { kind: 'held', sentAtMs };
    this.#mayHold = true;
    this.#see(await this.#request(write, { signal }));
    this.#isOwn = true;
    return { kind: 'held', sentAtMs };
  }

  /** Half of the time for each request, as client-go has it: one that hangs must not cost the Lease. */
  #request<T>(call: (options: RunOptions) => Promise<T>, { signal }: RunOptions): Promise<T> {
    const { renewDeadlineMs, clock } = this.#options;
    return within(renewDeadlineMs / 2, call, { signal, clock });
  }

  #see(lease: Lease | undefined): void {
    const { lock, leaseDurationMs, clock, onNewLeader, onAnswer } = this.#options;
    onAnswer(lock.lease);
    const before = this.#seen.holder;
    this.#seen = see(this.#seen, lease, { nowMs: clock.now(), leaseDurationMs });
    const { holder } = this.#seen;
    if (holder !== before && holder !== '') onNewLeader(holder, lock.lease);
  }
}

/** The request that a decision takes; undefined for a missing Lease that isn't ours to create. */
function writeOf(
  decision: Exclude<Decision, { kind: 'wait' }>,
  lock: LeaseLock,
): ((options: RunOptions) => Promise<Lease>) | undefined {
  if (decision.kind === 'update') return (options) => lock.update(decision.lease, options);
  return lock.create && ((options) => lock.create!(decision.spec, options));
}
