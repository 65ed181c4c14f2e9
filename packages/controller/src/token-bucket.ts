import type { Now } from './workqueue.ts';

export type TokenBucketOptions = {
  /** The tokens at first. */
  readonly initial: number;
  /** The tokens that the bucket is refilled to; called at each take. */
  readonly burst: () => number;
  /** New tokens per second, more than 0. */
  readonly perSecond: number;
  readonly now?: Now;
};

const TOKEN = 1_000;

/** Tokens that are taken one by one and refilled at a rate. There may be more at first than after any refill. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #now: Now;
  /** Thousandths of a token, `perSecond` new ones in a millisecond: whole numbers, without rounding. */
  #thousandths: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#thousandths = options.initial * TOKEN;
    this.#filledAt = this.#now();
  }

  /** Takes a token if there is one. @returns 0, or the milliseconds until there is one */
  take(): number {
    const { burst, perSecond } = this.#options;
    const now = this.#now();
    const filled = this.#thousandths + (now - this.#filledAt) * perSecond;
    this.#filledAt = now;
    this.#thousandths = Math.max(this.#thousandths, Math.min(burst() * TOKEN, filled));
    if (this.#thousandths < TOKEN) return Math.ceil((TOKEN - this.#thousandths) / perSecond);
    this.#thousandths -= TOKEN;
    return 0;
  }
}
