import { isDeepStrictEqual } from 'node:util';
import { backoffMs, type ReconcileContext } from '@kube-semaphore/controller';
import { isNamespaceGone, isRefusal } from './refusal.ts';
import { RemoteWritesError } from './remote-writes.ts';
import type { FailedWrite } from './write-log.ts';

/** One write of a reconcile. */
export type KeyWrite<T> = {
  /** The kind and the name of the object, and the subresource: each waits by itself. */
  readonly object: string;
  /** What is written: equal changes have equal results. */
  readonly change: unknown;
  readonly send: () => Promise<T>;
  /** Whether a key that is written often rests after it. Default: yes. */
  readonly isPaced?: boolean;
  /** Whether the answer is the object as it was: an older definition of its kind may lack a field. Default: no. */
  readonly isNoop?: (answer: T) => boolean;
};

/** A change that isn't made now. `error`: of its last attempt; undefined if that has no answer, or changed nothing. */
export type Unwritten = { readonly object: string; readonly change: unknown; readonly error: unknown };

/** The outcome of a write. `untilMs`: monotonic; Infinity without an end. */
type Wait = {
  readonly change: unknown;
  readonly error: unknown;
  readonly failures: number;
  /** Of the first failure in a row; monotonic. */
  readonly failingSinceMs: number;
  readonly untilMs: number;
  /** `under way`: it has no answer. `change`: another change of the object doesn't wait. */
  readonly kind: 'under way' | 'object' | 'change';
  /** As `ReconcileContext.since`, of the first attempt. */
  readonly since: number | undefined;
};

export type WaitingWritesOptions = {
  /** A write failed, and is tried again. */
  readonly onFailure: (failure: FailedWrite) => void;
  /** An object of the key doesn't wait any more. @param since as `ReconcileContext.since` */
  readonly onDue: (key: string, since: number | undefined) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

const BACKOFF = { baseMs: 50, maxMs: 10_000 };

/** No event says that a policy, a quota or a webhook allows what it denied. */
const REFUSED_BACKOFF = { baseMs: 60_000, maxMs: 600_000 };

/**
 * How long a reconcile waits for an answer before it continues with other objects. While n answers are late, it is 1/(n+1) of
 * that: else a remote with many objects that are never answered would keep all workers.
 */
const SLOW_MS = 1_000;

/**
 * The objects whose writes wait, by key. A write that fails, or has no answer, delays no other object of its key, as that may
 * be of another cluster.
 */
export class WaitingWrites {
  readonly #options: WaitingWritesOptions;
  readonly #now: () => number;
  readonly #byKey = new Map<string, Map<string, Wait>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #late = new Set<Promise<unknown>>();

  constructor(options: WaitingWritesOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Begins the writes of a reconcile; to be ended by `end`. A key has one reconcile at a time. */
  begin(key: string, { since }: Pick<ReconcileContext, 'since'>): KeyWrites {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    const waits = this.#byKey.get(key) ?? new Map<string, Wait>();
    return new KeyWrites({ ...this.#options, key, since, waits, late: this.#late, now: this.#now });
  }

  /** Forgets the objects that a reconcile didn't try to write, and wakes the key when the first of the others is due. */
  end({ key, waits, tried }: KeyWrites): void {
    const needless = [...waits].filter(([object, { kind }]) => !tried.has(object) && kind !== 'under way');
    for (const [object] of needless) waits.delete(object);
    if (waits.size === 0) {
      this.#byKey.delete(key);
      for (const [, { error }] of needless) withdraw(error);
      return;
    }
    this.#byKey.set(key, waits);
    const { untilMs, since } = [...waits.values()].reduce((first, wait) =>
      wait.untilMs < first.untilMs ? wait : first,
    );
    if (untilMs === Infinity) return;
    const wake = () => this.#options.onDue(key, since);
    this.#timers.set(key, setTimeout(wake, Math.max(0, Math.ceil(untilMs - this.#now()))).unref());
  }

  /** How many objects of each kind have failed for so long, without those that are refused, or wait for a budget. */
  failing({ forMs }: { readonly forMs: number }): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const beforeMs = this.#now() - forMs;
    for (const waits of this.#byKey.values())
      for (const [object, { kind, failures, failingSinceMs }] of waits) {
        if (kind === 'change' || failures === 0 || failingSinceMs > beforeMs) continue;
        const [kindOfObject = ''] = object.split(' ', 1);
        counts.set(kindOfObject, (counts.get(kindOfObject) ?? 0) + 1);
      }
    return counts;
  }

  /** Nothing of these keys waits any more but for answers. Default: of all keys. */
  forget(keys: Iterable<string> = this.#byKey.keys()): void {
    for (const key of keys) {
      const waits = this.#byKey.get(key);
      for (const [object, { kind }] of waits ?? []) if (kind !== 'under way') waits!.delete(object);
    }
  }
}

type KeyWritesOptions = WaitingWritesOptions & {
  readonly key: string;
  readonly since: number | undefined;
  readonly waits: Map<string, Wait>;
  /** The answers that no reconcile waits for any more. */
  readonly late: Set<Promise<unknown>>;
  readonly now: () => number;
};

/** The writes of one reconcile. */
export class KeyWrites {
  readonly key: string;
  readonly waits: Map<string, Wait>;
  /** The objects that have a change. */
  readonly tried = new Set<string>();
  readonly #options: KeyWritesOptions;
  readonly #made = new Set<unknown>();
  readonly #unwritten = new Map<string, Unwritten>();
  #isBusy = false;

  constructor(options: KeyWritesOptions) {
    this.#options = options;
    this.key = options.key;
    this.waits = options.waits;
  }

  /** Whether anything was sent that is paced, or waits to be sent again. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Whether a write failed, other than by a refusal. */
  get hasFailed(): boolean {
    return this.unwritten.some(({ error }) => error !== undefined && !isRefusal(error));
  }

  /** What has a change that wasn't made. */
  get unwritten(): readonly Unwritten[] {
    return [...this.#unwritten.values()];
  }

  isMade(change: unknown): boolean {
    return this.#made.has(change);
  }

  /** Whether a change that is due has to wait. */
  waitsFor({ object, change }: Pick<KeyWrite<unknown>, 'object' | 'change'>): boolean {
    this.tried.add(object);
    const wait = this.waits.get(object);
    if (wait === undefined || wait.untilMs <= this.#options.now()) return false;
    if (wait.kind === 'change' && !isDeepStrictEqual(wait.change, change)) return false;
    this.#isBusy ||= wait.kind !== 'change';
    this.#unwritten.set(object, { object, change, error: wait.error });
    return true;
  }

  /** Sends a change, unless it has to wait. Never rejects. @returns undefined if the change isn't made, or not yet */
  async write<T>(write: KeyWrite<T>): Promise<{ readonly answer: T } | undefined> {
    if (this.waitsFor(write)) return undefined;
    const { object, change, isPaced = true } = write;
    this.#isBusy ||= isPaced;
    const made = await this.#unlessSlow(this.#send(write));
    if (made === undefined) {
      this.#unwritten.set(object, { object, change, error: this.waits.get(object)?.error });
      return undefined;
    }
    this.#unwritten.delete(object);
    this.#made.add(change);
    return made;
  }

  async #send<T>({
    object,
    change,
    send,
    isNoop = () => false,
  }: KeyWrite<T>): Promise<{ readonly answer: T } | undefined> {
    const { failures = 0, failingSinceMs = 0, error, since = this.#options.since } = this.waits.get(object) ?? {};
    const wait = { change, error, failures, failingSinceMs, since, untilMs: Infinity };
    this.waits.set(object, { ...wait, kind: 'under way' });
    try {
      const answer = await send();
      this.waits.delete(object);
      // As a deletion, which doesn't wait for the turn of the key.
      if (this.waits.size === 0) withdraw(error);
      if (isNoop(answer)) this.waits.set(object, { ...wait, error: undefined, failures: 0, kind: 'change' });
      return { answer };
    } catch (failure) {
      this.#failed(object, { ...wait, error: failure, failures: failures + 1 });
      return undefined;
    }
  }

  #failed(object: string, { failures, ...wait }: Omit<Wait, 'untilMs' | 'kind'>): void {
    const { key, now, onFailure } = this.#options;
    const { error } = wait;
    const isRefused = isRefusal(error) || isNamespaceGone(error);
    const { retryAfterMs } = error as { retryAfterMs?: number };
    const retryInMs = backoffMs(failures, isRefused ? REFUSED_BACKOFF : BACKOFF, retryAfterMs);
    const nowMs = now();
    const failingSinceMs = failures === 1 ? nowMs : wait.failingSinceMs;
    // Another remote may pay for the next one.
    const kind = isRefused || error instanceof RemoteWritesError ? 'change' : 'object';
    this.waits.set(object, { ...wait, failures, failingSinceMs, untilMs: nowMs + retryInMs, kind });
    onFailure({ key, object, error, retryInMs });
  }

  /** Waits for an answer. One that comes later wakes the key. */
  async #unlessSlow<T>(answer: Promise<T>): Promise<T | undefined> {
    const { key, since, late, onDue } = this.#options;
    const { promise: slow, resolve } = Promise.withResolvers<undefined>();
    const giveUp = (): void => {
      late.add(answer);
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, SLOW_MS / (late.size + 1));
    void answer.then(() => {
      clearTimeout(timer);
      if (late.delete(answer)) onDue(key, since);
    });
    return Promise.race([answer, slow]);
  }
}

/** All objects of a key have one turn: when no object waits any more, others can have it. */
function withdraw(error: unknown): void {
  if (error instanceof RemoteWritesError) error.withdraw();
}
