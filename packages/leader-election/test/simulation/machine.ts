import type { LeaderClock } from '../../src/clock.ts';
import type { Wakeup, World } from './world.ts';

/** The time of a fault, in true time. */
export type Period = { readonly atMs: number; readonly forMs: number };

export type MachineOptions = {
  /** The speed of its clock: 1 is right. */
  readonly rate: number;
  /** The time of its clock at the beginning. */
  readonly originMs: number;
  /** The date of its clock at the beginning. */
  readonly epochMs: number;
  /** When its processes are stopped, as by SIGSTOP. */
  readonly stops: readonly Period[];
};

/** A process that may be stopped and killed, on a machine with its own clock. */
export class Machine {
  readonly #world: World;
  readonly #options: MachineOptions;
  readonly #timers = new Set<symbol>();
  #isAlive = true;

  constructor(world: World, options: MachineOptions) {
    this.#world = world;
    this.#options = options;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** The number of active timers. */
  get timers(): number {
    return this.#timers.size;
  }

  readonly clock: LeaderClock = {
    now: () => this.#options.originMs + this.#world.nowMs * this.#options.rate,
    epochMs: () => this.#options.epochMs + this.#world.nowMs,
    after: (ms, call) => {
      const timer = Symbol('timer');
      this.#timers.add(timer);
      // Whole milliseconds, and at least one, as with setTimeout.
      const waitMs = Math.max(1, Math.ceil(ms)) / this.#options.rate;
      this.deliver(this.#world.nowMs + waitMs, () => this.#timers.delete(timer) && call(), 'timer');
      return () => this.#timers.delete(timer);
    },
  };

  /** As SIGKILL. */
  kill(): void {
    this.#isAlive = false;
  }

  /** Calls at that true time, or as soon as the process runs after it; never if it is dead then. */
  deliver(atMs: number, call: () => void, kind: Wakeup): void {
    this.#world.at(
      atMs,
      () => {
        if (!this.#isAlive) return;
        const stop = activeAt(this.#options.stops, this.#world.nowMs);
        if (stop === undefined) call();
        else this.deliver(stop.atMs + stop.forMs, call, kind);
      },
      kind,
    );
  }
}

/** The period that contains a time, if any. */
export function activeAt(periods: readonly Period[], nowMs: number): Period | undefined {
  return periods.find(({ atMs, forMs }) => atMs <= nowMs && nowMs < atMs + forMs);
}
