import { KubeApiError, type RunOptions } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import { type LeaderClock, within } from './clock.ts';
import type { LeaseLock } from './lock.ts';
import { decide, type Decision, type LeaderTimes, nextAttemptMs, released, see, UNSEEN } from './state.ts';

/** What happens to a Lease, which is named `namespace/name`. */
export type LeaseEvents = {
  /** The Lease has another holder than before, possibly us. */
  readonly onNewLeader: (identity: string, lease: string) => void;
  /** The Lease could not be read or written; it is retried after the retry period. */
  readonly onFailure: (error: unknown, lease: string) => void;
  /** The Lease was read or written. */
  readonly onAnswer: (lease: string) => void;
};

export type LeaseClaimOptions = LeaderTimes &
  LeaseEvents & {
    readonly lock: LeaseLock;
    readonly identity: string;
    readonly clock: LeaderClock;
  };

/**
 * `held`: a request that was sent then wrote our name into the Lease, or the Lease is missing and not ours to create.
 * `taken`: another replica holds it. `failed`: it couldn't be read or written, or another replica was faster.
 */
export type Attempt = { readonly kind: 'held'; readonly sentAtMs: number } | { readonly kind: 'taken' | 'failed' };

/** Together with the grace for its writes, less than a process has to stop. */
const RELEASE_TIMEOUT_MS = 2_000;

/** A replica's claim to the Lease: it observes, takes, renews and releases it. One call at a time. */
export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #seen = UNSEEN;
  /** We wrote what we saw last, so we can renew without reading. */
  #isOwn = false;
  /** The Lease may have our name: we sent it, with or without an answer. */
  #mayHold = false;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  /** Milliseconds until the next attempt of a replica that doesn't lead. */
  nextAttemptMs(random: () => number): number {
    const { clock, retryPeriodMs } = this.#options;
    return nextAttemptMs(this.#seen, { nowMs: clock.now(), retryPeriodMs, random });
  }

  /**
   * Tries once to hold the Lease. Never rejects.
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
      // Another client changed it, perhaps only a label. Directly after a read, another replica was faster.
      if (isConflict && wasOwn) return this.attempt(role);
      if (!isConflict && !role.signal.aborted) this.#options.onFailure(error, this.#options.lock.lease);
      return { kind: 'failed' };
    }
  }

  /** Releases the Lease if it is ours. Never rejects. */
  async release(): Promise<void> {
    const { lock, identity, clock, onFailure } = this.#options;
    if (!this.#mayHold) return;
    const release = async (options: RunOptions): Promise<void> => {
      const lease = await lock.read(options);
      if (lease?.spec.holderIdentity === identity) await lock.update(released(lease, clock.epochMs()), options);
    };
    // A process that stops still does this, so it has a signal of its own.
    const { signal } = new AbortController();
    await within(RELEASE_TIMEOUT_MS, release, { signal, clock }).catch((error: unknown) =>
      onFailure(error, lock.lease),
    );
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

  /** Half of the deadline for each request, as in client-go: one that hangs must not cost the Lease. */
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

/** The request of a decision; undefined for a missing Lease that isn't ours to create. */
function writeOf(
  decision: Exclude<Decision, { kind: 'wait' }>,
  lock: LeaseLock,
): ((options: RunOptions) => Promise<Lease>) | undefined {
  if (decision.kind === 'update') return (options) => lock.update(decision.lease, options);
  return lock.create && ((options) => lock.create!(decision.spec, options));
}
