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

/** Tokens that are taken one by one and come back at a rate. There may be more at first than ever come back. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #now: Now;
  #tokens: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#tokens = options.initial;
    this.#filledAt = this.#now();
  }

  /** @returns 0 if a token was there, which is taken; else the milliseconds until there is one, and nothing is taken */
  take(): number {
    const { burst, perSecond } = this.#options;
    const now = this.#now();
    const come = ((now - this.#filledAt) / 1000) * perSecond;
    this.#filledAt = now;
    this.#tokens = Math.max(this.#tokens, Math.min(burst(), this.#tokens + come));
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / perSecond) * 1000);
    this.#tokens--;
    return 0;
  }
}
