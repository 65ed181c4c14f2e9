import type { Now } from './workqueue.ts';

export type TokenBucketOptions = {
  /** How many there are at first. */
  readonly initial: number;
  /** It is filled up to so many, and never beyond; asked at each take. */
  readonly burst: () => number;
  /** Tokens that come in a second, above 0. */
  readonly perSecond: number;
  readonly now?: Now;
};

const TOKEN = 1_000;

/** Tokens that are taken one by one and come back at a rate. There may be more at first than ever come back. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #now: Now;
  /** In thousandths of a token, of which `perSecond` come in a millisecond: whole numbers, which don't round. */
  #thousandths: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#thousandths = options.initial * TOKEN;
    this.#filledAt = this.#now();
  }

  /** @returns 0 if a token was there, which is taken; else the milliseconds until there is one, and nothing is taken */
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
