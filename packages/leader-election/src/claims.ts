import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Attempt, LeaseClaim } from './claim.ts';

/**
 * Claims to all Leases that a replica must hold in order to lead, as client-go's MultiLock for a lock that moves. All
 * replicas take them in the same order, so no two wait for each other.
 */
export class LeaseClaims {
  readonly #claims: readonly LeaseClaim[];

  constructor(claims: readonly LeaseClaim[]) {
    this.#claims = claims;
  }

  /** `LeaseClaim.nextAttemptMs`, of the claim that is due first. */
  nextAttemptMs(random: () => number): number {
    return Math.min(...this.#claims.map((claim) => claim.nextAttemptMs(random)));
  }

  /** `LeaseClaim.attempt`: `held` since the oldest request if all are held, else the first other result. */
  async attempt(role: RunOptions & { leads: boolean }): Promise<Attempt> {
    let sentAtMs = Infinity;
    for (const claim of this.#claims) {
      const attempt = await claim.attempt(role);
      if (attempt.kind !== 'held') return attempt;
      sentAtMs = Math.min(sentAtMs, attempt.sentAtMs);
    }
    return { kind: 'held', sentAtMs };
  }

  /** `LeaseClaim.release`, of all in parallel: a process that stops has little time. */
  async release(): Promise<void> {
    await Promise.all(this.#claims.map((claim) => claim.release()));
  }
}
