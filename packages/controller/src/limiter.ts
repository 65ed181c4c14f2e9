/**
 * At most `limit` calls at once. An account begins one only while it has fewer than are still free: alone, it gets half of
 * them, the next one half of the rest. So an account whose calls have no answer leaves turns to others. (The rule of shared
 * buffers in switches: Choudhury and Hahne, Dynamic Queue Length Thresholds, with a factor of one.)
 */
export class Limiter {
  #free: number;
  readonly #running = new Map<string | undefined, number>();
  /** In the order in which they came. */
  readonly #waiting = new Map<string | undefined, (() => void)[]>();

  constructor(limit: number) {
    this.#free = limit;
  }

  /** @param account who causes the call; undefined is one, too */
  async run<T>(account: string | undefined, call: () => Promise<T>): Promise<T> {
    if (this.#mayBegin(account)) this.#count(account, +1);
    else await this.#turn(account);
    try {
      return await call();
    } finally {
      this.#count(account, -1);
      this.#beginNext();
    }
  }

  #mayBegin(account: string | undefined): boolean {
    return (this.#running.get(account) ?? 0) < this.#free;
  }

  #count(account: string | undefined, step: 1 | -1): void {
    this.#free -= step;
    const running = (this.#running.get(account) ?? 0) + step;
    if (running === 0) this.#running.delete(account);
    else this.#running.set(account, running);
  }

  #turn(account: string | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(account);
    if (queue === undefined) this.#waiting.set(account, [resolve]);
    else queue.push(resolve);
    return promise;
  }

  /** Begins what may begin now, of each account in turn. */
  #beginNext(): void {
    for (const [account, queue] of this.#waiting) {
      // Hundreds of accounts may wait, and this follows each call.
      if (this.#free === 0) return;
      if (!this.#mayBegin(account)) continue;
      this.#count(account, +1);
      queue.shift()!();
      this.#waiting.delete(account);
      if (queue.length > 0) this.#waiting.set(account, queue);
    }
  }
}
