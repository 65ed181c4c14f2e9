type Event = { readonly atMs: number; readonly rank: number; readonly run: () => void };

/** Answers come in before timers that are due, as with libuv after a SIGSTOP: the worst order for an election. */
const RANKS = { answer: 0, timer: 1 } as const;

/** What wakes a process. */
export type Wakeup = keyof typeof RANKS;

/** Simulated time, which advances from event to event. */
export class World {
  readonly #events: Event[] = [];
  #nowMs = 0;

  /** True time, which no machine knows. */
  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, run: () => void, kind: Wakeup = 'answer'): void {
    const event = { atMs: Math.max(atMs, this.#nowMs), rank: RANKS[kind], run };
    const after = this.#events.findLastIndex((other) => !isBefore(event, other));
    this.#events.splice(after + 1, 0, event);
  }

  /** Runs all events until a time, and calls `check` after each. */
  async runUntil(untilMs: number, check: () => void): Promise<void> {
    for (let next = this.#events[0]; next !== undefined && next.atMs <= untilMs; next = this.#events[0]) {
      this.#events.shift();
      this.#nowMs = next.atMs;
      next.run();
      // All promises that depend on the event are settled then.
      await new Promise((resolve) => setImmediate(resolve));
      check();
    }
    this.#nowMs = untilMs;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.rank < b.rank);
