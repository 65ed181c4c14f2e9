import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Attempt, LeaseClaim } from './claim.ts';

/**
 * Claims to all Leases that a replica must hold in order to lead, as client-go's MultiLock has them where a lock moves.
 * They are taken in one order, which is the same in all replicas: so no two wait for each other's.
 */
export class LeaseClaims {
  readonly #claims: readonly LeaseClaim[];

  constructor(claims: readonly LeaseClaim[]) {
    this.#claims = claims;
  }

  /** `LeaseClaim.nextLookMs`, of the claim that is due first. */
  nextLookMs(random: () => number): number {
    return Math.min(...this.#claims.map((claim) => claim.nextLookMs(random)));
  }

  /** `LeaseClaim.attempt`: `held` if all are, counted from the oldest request; else what the first other one says. */
  async attempt(role: RunOptions & { leads: boolean }): Promise<Attempt> {
    let sentAtMs = Infinity;
    for (const claim of this.#claims) {
      const attempt = await claim.attempt(role);
      if (attempt.kind !== 'held') return attempt;
      sentAtMs = Math.min(sentAtMs, attempt.sentAtMs);
    }
    return { kind: 'held', sentAtMs };
  }

  /** `LeaseClaim.release`, of all at once: a process that stops has little time. */
  async release(): Promise<void> {
    await Promise.all(this.#claims.map((claim) => claim.release()));
  }
}
