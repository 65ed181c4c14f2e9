/** A key that is handed out. `since`: as `add` takes it. */
export type Task = { readonly key: string; readonly since: number | undefined };

type Entry = {
  /** Whether it is to be handed out. */
  due: boolean;
  /** Of the oldest event since the key was last handed out. */
  since: number | undefined;
  working: boolean;
  failures: number;
  /** The key isn't handed out before. */
  notBefore: number;
  timer: NodeJS.Timeout | undefined;
};

/** Monotonic milliseconds. */
export type Now = () => number;

/**
 * Keys that wait to be reconciled. Each is in it once however often it is added, is worked by one worker at a time,
 * and is handed out once more if it was added while worked. After `done` a key rests until `notBefore`: that is how
 * writes are paced and failures back off. An event never shortens a rest, so no stream of events can make a failing
 * key spin.
 */
export class Workqueue {
  readonly #now: Now;
  readonly #entries = new Map<string, Entry>();
  readonly #ready: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #readyHead = 0;
  #closed = false;

  constructor({ now = () => performance.now() }: { now?: Now } = {}) {
    this.#now = now;
  }

  /** Keys that wait to be handed out, resting ones included. */
  get depth(): number {
    let depth = 0;
    for (const { due } of this.#entries.values()) if (due) depth++;
    return depth;
  }

  /**
   * @param since monotonic time at which the event was seen that asks for it, the oldest one counts; undefined: no event does
   * @returns whether the key waits from now on, and didn't before
   */
  add(key: string, since?: number): boolean {
    if (this.#closed) return false;
    const entry = this.#entry(key);
    entry.since =
      since === undefined || entry.since === undefined ? (since ?? entry.since) : Math.min(entry.since, since);
    if (entry.due) return false;
    entry.due = true;
    if (!entry.working) this.#schedule(key, entry);
    return true;
  }

  /** Waits for the next key; undefined once the queue is closed. */
  async take(): Promise<Task | undefined> {
    while (!this.#closed) {
      const key = this.#nextReady();
      if (key !== undefined) {
        const entry = this.#entries.get(key)!;
        const task = { key, since: entry.since };
        entry.due = false;
        entry.since = undefined;
        entry.working = true;
        return task;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
    return undefined;
  }

  /** Every key that was taken is given back, once. `restMs`: how long it stays here even if there is work for it. */
  done(key: string, { restMs = 0, failed = false }: { restMs?: number; failed?: boolean } = {}): void {
    const entry = this.#entries.get(key);
    // Closed meanwhile.
    if (entry === undefined) return;
    entry.working = false;
    entry.failures = failed ? entry.failures + 1 : 0;
    entry.notBefore = this.#now() + restMs;
    if (entry.due) this.#schedule(key, entry);
    else if (restMs === 0) this.#entries.delete(key);
    else this.#later(key, entry);
  }

  /** Failures of the key in a row, as told by `done`. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  /** Forgets all keys and timers; whoever waits for a key gets none. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
    this.#entries.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { due: false, since: undefined, working: false, failures: 0, notBefore: 0, timer: undefined };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #schedule(key: string, entry: Entry): void {
    if (entry.notBefore > this.#now()) {
      this.#later(key, entry);
      return;
    }
    // One that is late would hand the key out a second time.
    clearTimeout(entry.timer);
    entry.timer = undefined;
    this.#ready.push(key);
    this.#waiting.shift()?.();
  }

  /** At the end of its rest a key is handed out if there is work for it, and else forgotten. */
  #later(key: string, entry: Entry): void {
    if (entry.timer !== undefined) return;
    entry.timer = setTimeout(
      () => {
        entry.timer = undefined;
        if (entry.working) return;
        if (entry.due) this.#schedule(key, entry);
        else if (entry.failures === 0) this.#entries.delete(key);
      },
      Math.ceil(entry.notBefore - this.#now()),
    );
  }

  #nextReady(): string | undefined {
    const key = this.#ready[this.#readyHead];
    if (key === undefined) return undefined;
    // A head that moves makes taking constant; the array is cut when half of it is behind the head.
    if (++this.#readyHead * 2 > this.#ready.length) {
      this.#ready.splice(0, this.#readyHead);
      this.#readyHead = 0;
    }
    return key;
  }
}
