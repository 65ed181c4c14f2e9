import type { Now } from './workqueue.ts';

export type TokenBucketOptions = {
  /** The tokens at first. */
  readonly initial: number;
  /** The tokens that the bucket is refilled to; called at each refill. */
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
  /** Thousandths of a token, `perSecond` new ones in a millisecond: whole numbers, without rounding. Less than 0: reserved ones. */
  #thousandths: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#thousandths = options.initial * TOKEN;
    this.#filledAt = this.#now();
  }

  /** Takes a token. @returns whether there was one */
  take(): boolean {
    this.#fill();
    if (this.#thousandths < TOKEN) return false;
    this.#thousandths -= TOKEN;
    return true;
  }

  /** Takes a token, or the next one that isn't reserved yet. @returns the milliseconds until it is there; 0: it is */
  reserve(): number {
    this.#fill();
    this.#thousandths -= TOKEN;
    return Math.ceil(Math.max(0, -this.#thousandths) / this.#options.perSecond);
  }

  /** Gives back a token that was reserved, and isn't needed. */
  giveBack(): void {
    this.#thousandths += TOKEN;
  }

  #fill(): void {
    const { burst, perSecond } = this.#options;
    const now = this.#now();
    const filled = this.#thousandths + (now - this.#filledAt) * perSecond;
    this.#filledAt = now;
    this.#thousandths = Math.max(this.#thousandths, Math.min(burst() * TOKEN, filled));
  }
}
