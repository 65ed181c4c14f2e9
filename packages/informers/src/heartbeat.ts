/** When a loop last did anything, to tell one that hangs from one that waits. Times are monotonic. */
export class Heartbeat {
  #lastAt = performance.now();

  beat(): void {
    this.#lastAt = performance.now();
  }

  /** The loop waits for `ms` and does nothing until then. */
  pauseFor(ms: number): void {
    this.#lastAt = performance.now() + ms;
  }

  /** Milliseconds since the last beat; negative in a pause. */
  get silentMs(): number {
    return performance.now() - this.#lastAt;
  }
}
