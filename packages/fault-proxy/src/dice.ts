/** Pseudo-random numbers from a seed (mulberry32), so that a failure can be repeated. */
export class Dice {
  #state: number;

  /** @param seed an integer, of which the lower 32 bits are used */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** One of `options`, which must not be empty. */
  pick<const T>(options: readonly T[]): T {
    return options[this.integer(0, options.length - 1)]!;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.integer(0, 255)));
  }

  /** In [0, 1). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
