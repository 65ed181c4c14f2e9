/** A key to work on. `since` as in `add`. */
export type Task = { readonly key: string; readonly since: number | undefined };

type Entry = {
  /** Whether there is work for it. */
  due: boolean;
  /** Of the oldest event since the key was last taken. */
  since: number | undefined;
  /** Whether it doesn't wait for the end of a delay. */
  urgent: boolean;
  working: boolean;
  failures: number;
  /** As in `AddOptions`, of the events since the key was last taken. */
  causes: Set<string>;
  /** The end of its delay. */
  notBefore: number;
  timer: NodeJS.Timeout | undefined;
};

export type AddOptions = {
  /** Ends the delay of the key, also a backoff: for events of which a remote can't make many. */
  readonly isUrgent?: boolean;
  /** Who causes the event, such as a remote: keys of each cause are taken in turn. Default: all others. */
  readonly cause?: string;
};

/** Monotonic milliseconds. */
export type Now = () => number;

/**
 * Keys that wait for a reconcile. Each is queued once, however often it is added; has one worker at a time; and is queued
 * again if it is added meanwhile. Those of each cause are taken in turn, so thousands of one delay no key of another. `done` may
 * delay a key, to pace its writes or to back off after failures. Only urgent events end a delay, so no stream of others can make a
 * failing key spin.
 */
export class Workqueue {
  readonly #now: Now;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Lines();
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor({ now = () => performance.now() }: { now?: Now } = {}) {
    this.#now = now;
  }

  /** Keys that wait for a worker, also the delayed ones. */
  get depth(): number {
    let depth = 0;
    for (const { due } of this.#entries.values()) if (due) depth++;
    return depth;
  }

  /**
   * @param since monotonic time of the event that asks for it; undefined: no event does. The oldest one counts
   * @returns whether the key waits now, and didn't before
   */
  add(key: string, since?: number, { isUrgent = false, cause = '' }: AddOptions = {}): boolean {
    if (this.#closed) return false;
    const entry = this.#entry(key);
    const isNewCause = !entry.causes.has(cause);
    entry.causes.add(cause);
    entry.since =
      since === undefined || entry.since === undefined ? (since ?? entry.since) : Math.min(entry.since, since);
    entry.urgent ||= isUrgent;
    const wasDue = entry.due;
    const isDelayed = entry.timer !== undefined;
    entry.due = true;
    if (!entry.working && (!wasDue || (isUrgent && isDelayed))) this.#schedule(key, entry);
    // It waits in two lines then, and is taken from the one whose turn is first.
    else if (isNewCause && isReady(entry)) this.#ready.push(key, cause);
    return !wasDue;
  }

  /** Waits for the next key; undefined when the queue is closed. */
  async take(): Promise<Task | undefined> {
    while (!this.#closed) {
      const key = this.#nextReady();
      if (key !== undefined) {
        const entry = this.#entries.get(key)!;
        const task = { key, since: entry.since };
        entry.due = false;
        entry.since = undefined;
        entry.causes = new Set();
        entry.urgent = false;
        entry.working = true;
        return task;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
    return undefined;
  }

  /** Returns a key that was taken, once. @param delayMs how long it waits even if there is work for it */
  done(key: string, { delayMs = 0, failed = false }: { delayMs?: number; failed?: boolean } = {}): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return; // closed meanwhile
    entry.working = false;
    entry.failures = failed ? entry.failures + 1 : 0;
    entry.notBefore = this.#now() + delayMs;
    if (entry.due) this.#schedule(key, entry);
    else if (delayMs === 0) this.#entries.delete(key);
    else this.#later(key, entry);
  }

  /** Failures of the key in a row. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  /** Removes all keys and timers, and ends all waits for a key. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
    this.#entries.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = {
        due: false,
        since: undefined,
        causes: new Set(),
        urgent: false,
        working: false,
        failures: 0,
        notBefore: 0,
        timer: undefined,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #schedule(key: string, entry: Entry): void {
    if (!entry.urgent && entry.notBefore > this.#now()) {
      this.#later(key, entry);
      return;
    }
    // A late timer would queue the key twice.
    clearTimeout(entry.timer);
    entry.timer = undefined;
    for (const cause of entry.causes) this.#ready.push(key, cause);
    this.#waiting.shift()?.();
  }

  /** At the end of its delay, a key is queued if there is work for it, else removed. */
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
    for (let key = this.#ready.shift(); key !== undefined; key = this.#ready.shift()) {
      const entry = this.#entries.get(key);
      // Another line had it, too.
      if (entry !== undefined && isReady(entry)) return key;
    }
    return undefined;
  }
}

/** Whether a worker may take it now. */
const isReady = ({ due, working, timer }: Entry): boolean => due && !working && timer === undefined;

/** A line of keys for each cause. */
class Lines {
  /** In the order of their turns. */
  readonly #byCause = new Map<string, { readonly keys: string[]; head: number }>();

  push(key: string, cause: string): void {
    const line = this.#byCause.get(cause);
    if (line === undefined) this.#byCause.set(cause, { keys: [key], head: 0 });
    else line.keys.push(key);
  }

  /** Takes the first key of the line whose turn it is. */
  shift(): string | undefined {
    const [next] = this.#byCause;
    if (next === undefined) return undefined;
    const [cause, line] = next;
    const key = line.keys[line.head++];
    this.#byCause.delete(cause);
    if (line.head === line.keys.length) return key;
    this.#byCause.set(cause, line);
    // With a moving head, this costs constant time; the line is cut when half of it is behind the head.
    if (line.head * 2 > line.keys.length) {
      line.keys.splice(0, line.head);
      line.head = 0;
    }
    return key;
  }
}
