type Event = { readonly atMs: number; readonly rank: number; readonly run: () => void };

/** Answers come in before timers that are due, as libuv has it after a SIGSTOP: the worst order for an election. */
const RANKS = { answer: 0, timer: 1 } as const;

/** What wakes a process. */
export type Wakeup = keyof typeof RANKS;

/** A time that passes from event to event, and as fast as the events can be worked. */
export class World {
  readonly #events: Event[] = [];
  #nowMs = 0;

  /** True time, which no machine in it knows. */
  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, run: () => void, kind: Wakeup = 'answer'): void {
    const event = { atMs: Math.max(atMs, this.#nowMs), rank: RANKS[kind], run };
    const after = this.#events.findLastIndex((other) => !isBefore(event, other));
    this.#events.splice(after + 1, 0, event);
  }

  /** Lets everything happen that is due until then, and calls `check` after each event. */
  async runUntil(untilMs: number, check: () => void): Promise<void> {
    for (let next = this.#events[0]; next !== undefined && next.atMs <= untilMs; next = this.#events[0]) {
      this.#events.shift();
      this.#nowMs = next.atMs;
      next.run();
      // By then every promise that the event settled has had its consequences.
      await new Promise((resolve) => setImmediate(resolve));
      check();
    }
    this.#nowMs = untilMs;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.rank < b.rank);
