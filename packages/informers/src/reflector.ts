import {
  apiErrorOf,
  BodyTooLargeError,
  ConnectionError,
  IdleTimeoutError,
  type KubeClient,
  type RunOptions,
  isStatus,
} from '@kube-semaphore/kube-client';
import {
  Codec,
  DecodeError,
  type Kind,
  type KubeObject,
  type Page,
  type TooLarge,
  type WatchEvent,
} from '@kube-semaphore/kube-objects';
import { restartReason, type RestartReason } from './failure.ts';
import { type BudgetShare, OverBudgetError, type RemoteBudget } from './remote-budget.ts';
import { isOlder } from './resource-version.ts';
import { Retry } from './retry.ts';
import { LONGEST_TIMER_MS, sleep } from './sleep.ts';
import { entryBytes, type Store, type Stored } from './store.ts';

/** What a reflector tells its app; all optional, all called synchronously. */
export type ReflectorHooks = {
  /** A list is complete: the store is what the source held a moment ago. Called after every list. */
  readonly onSynced?: () => void;
  /** The source answers: a list or a watch was accepted. */
  readonly onUp?: () => void;
  /** The source confirms what the store holds: after each list, and with each event or bookmark from then on. */
  readonly onConfirmed?: () => void;
  /** A watch or list ended and another will begin in `delayMs`. Without an `error` nothing is wrong. */
  readonly onRestart?: (restart: {
    reason: RestartReason;
    verb: 'list' | 'watch';
    error: unknown;
    delayMs: number;
  }) => void;
  /** Lists work and watches are forbidden (403): from now on the source is listed every `pollIntervalMs`. */
  readonly onWatchForbidden?: () => void;
};

export type ReflectorOptions<K extends Kind, V extends Stored> = {
  readonly client: KubeClient;
  readonly kind: K;
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Left out for good when the server answers 400: older ones don't know every field. `project` must check again. */
  readonly fieldSelector?: string;
  /** `never` for an aggregated API: Calico's takes `sendInitialEvents` and never ends them (projectcalico/calico#11114). */
  readonly watchList: 'auto' | 'never';
  /** What the store keeps of an object; undefined: nothing, as if it didn't exist. */
  readonly project: (object: KubeObject<K>) => V | undefined;
  /** The same of an object that is too large to be read. Default: nothing. */
  readonly projectTooLarge?: (object: TooLarge) => V | undefined;
  readonly store: Store<V>;
  /** What may be kept of the remote, by all of its reflectors together. Default: no bound, for a cluster of our own. */
  readonly budget?: RemoteBudget;
  /** A watch without an event for so long is opened again. */
  readonly idleTimeoutMs: number;
  /** A WatchList that is silent for so long before its end bookmark is one by a server that never sends that. */
  readonly initialEventsIdleMs?: number;
  /** For how long a list that takes away too much is doubted, if the store holds such objects. Then the next is believed. */
  readonly holdMs?: number;
  /** How often to list where watching is forbidden. */
  readonly pollIntervalMs: number;
  readonly hooks?: ReflectorHooks;
  readonly random?: () => number;
  /** Resolves after `ms`, or at once when the signal is aborted. */
  readonly sleep?: (ms: number, options: RunOptions) => Promise<void>;
  /** Monotonic, in ms. */
  readonly now?: () => number;
};

const PAGE_LIMIT = 500;
/** Felix takes 1,048,576 addresses at most; a server that lists more means us no good. */
const MOST_OBJECTS = 1_000_000;
/** Pages that bring less than half of what was asked for, in one list: API servers fill each but the last. */
const MOST_THIN_PAGES = 200;
/** What has grown too large shrinks again in hours, if at all, and a list that is given up halfway costs both sides. */
const OVER_BUDGET_PAUSE_MS = 300_000;
/** Jittered so that a fleet of watches doesn't end in the same second, as in client-go: 5 to 10 minutes. */
const WATCH_SECONDS = { least: 300, spread: 300 };
/** How long a server that can't do WatchList is not asked for one: it may be a newer one by then. */
const WITHOUT_WATCH_LIST_MS = 3_600_000;
/** Thousands of writes may fail for one reason, and each new list would end the one that is under way. */
const BETWEEN_RECHECKS_MS = 5_000;
/**
 * A watch is forbidden when it was refused (403) so often in a row: an API server that has just started refuses what its
 * roles allow until it has read them, and may have read them between a list and the watch after it, or the reverse.
 */
const REFUSALS = { believed: 3, pauseMs: 2_000 };

/**
 * Keeps a store equal to one resource of one API server: lists it, then watches, for ever. Whatever the server does,
 * it only costs time: the store keeps what was last known, and the next attempt begins after a backoff.
 *
 * It lists by WatchList (KEP-3157) where that works and else by pages, and remembers which. `run` resolves only when
 * its signal is aborted, and never rejects.
 */
export class Reflector<K extends Kind, V extends Stored> {
  readonly #options: ReflectorOptions<K, V>;
  readonly #codec: Codec<K>;
  readonly #share: BudgetShare | undefined;
  readonly #random: () => number;
  readonly #retry: Retry;
  readonly #sleep: (ms: number, options: RunOptions) => Promise<void>;
  readonly #now: () => number;
  #fieldSelector: string | undefined;
  /** From when on WatchList may be asked for, as of `now`. */
  #watchListFrom: number;
  /** How many watches in a row were refused after a list. */
  #refusals = 0;
  #pageLimit = PAGE_LIMIT;
  /** Where the watch goes on; undefined: list first. */
  #resourceVersion: string | undefined;
  /** The last attempt broke: make sure that the server's history is still the one that we know. */
  #checkHistory = false;
  #verb: 'list' | 'watch' = 'list';
  #attempt = new AbortController();
  /** While the store holds what a list lacked: the timer that ends it; `over`: the next list is believed. */
  #doubt: NodeJS.Timeout | 'over' | undefined;
  #lastTurn = performance.now();
  #recheckedAt = -Infinity;
  /** A recheck that was asked for too soon after the one before. */
  #nextRecheck: NodeJS.Timeout | undefined;

  constructor(options: ReflectorOptions<K, V>) {
    this.#options = options;
    this.#codec = new Codec(options.kind);
    this.#share = options.budget?.share(options.store);
    this.#random = options.random ?? Math.random;
    this.#retry = new Retry({ random: this.#random });
    this.#sleep = options.sleep ?? sleep;
    this.#fieldSelector = options.fieldSelector;
    this.#now = options.now ?? (() => performance.now());
    this.#watchListFrom = options.watchList === 'auto' ? 0 : Infinity;
  }

  /** Milliseconds since this loop last did anything; far more than `idleTimeoutMs` means that it hangs. */
  get silentMs(): number {
    return performance.now() - this.#lastTurn;
  }

  /** Lists again now, whatever is going on: to compare. */
  relist(): void {
    this.#attempt.abort();
  }

  /** What is known may be wrong, as a write has shown: lists again, but no more often than a list needs. */
  recheck(): void {
    const tooSoonMs = this.#recheckedAt + BETWEEN_RECHECKS_MS - this.#now();
    if (tooSoonMs <= 0) this.#recheckNow();
    // The list of then may have been as wrong, and who asks for another need not ask again.
    else this.#nextRecheck ??= setTimeout(() => this.#recheckNow(), tooSoonMs).unref();
  }

  /**
   * The answer to a write of ours, ahead of the watch. Where the watch has come as far it is passed over: it may have
   * told of the object's end already, and an object that is put back then would stay until the next list.
   */
  wrote(object: KubeObject<K>): void {
    const { resourceVersion } = (object as KubeObject<Kind>).metadata;
    const seen = this.#resourceVersion;
    if (seen !== undefined && (seen === resourceVersion || isOlder(resourceVersion, seen))) return;
    this.#read(object, undefined);
  }

  async run({ signal }: RunOptions): Promise<void> {
    while (!signal.aborted) {
      this.#attempt = new AbortController();
      await this.#turnAround(AbortSignal.any([signal, this.#attempt.signal]));
      if (this.#attempt.signal.aborted) this.#resourceVersion = undefined;
    }
    this.#endDoubt();
    clearTimeout(this.#nextRecheck);
    this.#share?.release();
  }

  #recheckNow(): void {
    clearTimeout(this.#nextRecheck);
    this.#nextRecheck = undefined;
    this.#recheckedAt = this.#now();
    this.relist();
  }

  /** One attempt and the pause after it; an abort ends either. */
  async #turnAround(signal: AbortSignal): Promise<void> {
    let failure: unknown;
    try {
      await this.#listAndWatch(signal);
    } catch (error) {
      failure = error;
    }
    this.#share?.endList();
    if (signal.aborted) return;
    if (failure !== undefined) this.#learn(failure);
    await this.#pause(failure, signal);
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#checkHistory) await this.#compareHistory(signal);
    if (this.#resourceVersion !== undefined) return this.#watch(this.#resourceVersion, signal);
    if (this.#now() >= this.#watchListFrom && !this.#polls && (await this.#watchList(signal)) === 'served') return;
    await this.#listPages(signal);
    return this.#watch(this.#resourceVersion!, signal);
  }

  /** @returns `unsupported` if this server must be listed by pages, and has been; the caller goes on to watch. */
  async #watchList(signal: AbortSignal): Promise<'served' | 'unsupported'> {
    const { idleTimeoutMs, initialEventsIdleMs = 10_000 } = this.#options;
    const { size: known } = this.#options.store;
    const listed = this.#beginList();
    let complete = false;
    let lacking = false;
    try {
      this.#verb = 'watch';
      const stream = await this.#openWatch({ sendInitialEvents: true, idleTimeoutMs: initialEventsIdleMs }, signal);
      for await (const batch of stream) {
        this.#turn();
        for (const event of batch) {
          if (!this.#apply(event, complete ? undefined : listed)) continue;
          complete = true;
          stream.setIdleTimeout(idleTimeoutMs);
          this.#finishList(listed, known);
        }
        if (complete) this.#options.hooks?.onConfirmed?.();
      }
      // A server that shuts down ends its watches in peace. That says nothing about what it can do.
      if (!complete) throw new ConnectionError('the server ended a WatchList before its list was complete');
    } catch (error) {
      lacking = lacksWatchList(error);
      if (complete || signal.aborted || !(lacking || isStatus(error, 403))) throw error;
    }
    if (complete) return 'served';
    // Believed only once pages work: a server that merely hangs answers neither.
    await this.#listPages(signal);
    if (lacking) this.#watchListFrom = this.#now() + WITHOUT_WATCH_LIST_MS;
    return 'unsupported';
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion !== undefined) return;
    this.#verb = 'list';
    const { size: known } = this.#options.store;
    const listed = this.#beginList();
    let token = '';
    let thinPages = 0;
    do {
      const page = await this.#page(token, signal);
      const before = listed.size;
      for (const object of page.items) this.#read(object, listed);
      for (const object of page.tooLarge) this.#readTooLarge(object, listed);
      // No page is followed by a pause, so a server that makes up tokens for ever would be asked as fast as it answers.
      if (listed.size - before < this.#pageLimit / 2) thinPages++;
      if (thinPages > MOST_THIN_PAGES) throw new DecodeError('the server lists without an end');
      token = page.continue;
      if (token === '') this.#resourceVersion = page.resourceVersion;
    } while (token !== '');
    this.#options.hooks?.onUp?.();
    this.#finishList(listed, known);
  }

  /** Asks for fewer objects, from now on, where so many are too large to be held. */
  async #page(token: string, signal: AbortSignal): Promise<Page<KubeObject<K>>> {
    for (;;) {
      try {
        const options = { ...this.#selection(), limit: this.#pageLimit, continue: token, signal };
        return await this.#options.client.list(this.#codec, options);
      } catch (error) {
        if (!(error instanceof BodyTooLargeError) || this.#pageLimit === 1) throw error;
        this.#pageLimit = Math.floor(this.#pageLimit / 2);
      } finally {
        this.#turn();
      }
    }
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    this.#verb = 'watch';
    const stream = await this.#openWatch({ resourceVersion, idleTimeoutMs: this.#options.idleTimeoutMs }, signal);
    for await (const batch of stream) {
      this.#turn();
      for (const event of batch) this.#apply(event);
      this.#options.hooks?.onConfirmed?.();
    }
  }

  async #openWatch(
    how: { sendInitialEvents: true; idleTimeoutMs: number } | { resourceVersion: string; idleTimeoutMs: number },
    signal: AbortSignal,
  ) {
    const timeoutSeconds = WATCH_SECONDS.least + Math.floor(this.#random() * WATCH_SECONDS.spread);
    const stream = await this.#options.client.watch(this.#codec, {
      ...this.#selection(),
      ...how,
      timeoutSeconds,
      signal,
    });
    this.#options.hooks?.onUp?.();
    this.#turn();
    this.#refusals = 0;
    this.#retry.accepted();
    return stream;
  }

  /** @returns whether the event ends a list's initial events */
  #apply(event: WatchEvent<KubeObject<K>>, listed?: Set<string>): boolean {
    if (event.type === 'ERROR') throw apiErrorOf(event.status, `watch ${this.#options.kind.plural}`);
    if (listed === undefined) this.#retry.heard();
    switch (event.type) {
      case 'BOOKMARK':
        if (listed === undefined || event.initialEventsEnd) this.#resourceVersion = event.resourceVersion;
        return listed !== undefined && event.initialEventsEnd;
      default: {
        const metadata = event.type === 'DELETED' ? event.metadata : (event.object as KubeObject<Kind>).metadata;
        if (event.type === 'DELETED') {
          listed?.delete(keyOf(metadata));
          this.#options.store.delete(keyOf(metadata), metadata.uid);
        } else if (event.type === 'TOO_LARGE') this.#readTooLarge(event.object, listed);
        else this.#read(event.object, listed);
        // An initial event's version is that object's own, and nothing to go on from.
        if (listed === undefined) this.#resourceVersion = metadata.resourceVersion;
        return false;
      }
    }
  }

  #read(object: KubeObject<K>, listed: Set<string> | undefined): void {
    this.#put(keyOf((object as KubeObject<Kind>).metadata), this.#options.project(object), listed);
  }

  #readTooLarge(object: TooLarge, listed: Set<string> | undefined): void {
    this.#put(keyOf(object.metadata), this.#options.projectTooLarge?.(object), listed);
  }

  #put(key: string, value: V | undefined, listed: Set<string> | undefined): void {
    if (value === undefined) {
      listed?.delete(key);
      this.#options.store.delete(key);
      return;
    }
    this.#share?.admit(entryBytes(key, value));
    if (listed === undefined) {
      this.#options.store.update(key, value);
      return;
    }
    if (listed.size >= MOST_OBJECTS)
      throw new DecodeError(`the server lists more than ${MOST_OBJECTS} ${this.#options.kind.plural}`);
    listed.add(key);
    this.#options.store.set(key, value);
  }

  /** @returns for the keys that it names */
  #beginList(): Set<string> {
    this.#share?.beginList();
    return new Set();
  }

  #finishList(listed: ReadonlySet<string>, known: number): void {
    const { store, hooks, holdMs = 0 } = this.#options;
    this.#share?.endList();
    store.finishList(listed, { known, believe: this.#doubt === 'over' });
    if (store.held === 0) this.#endDoubt();
    else if (this.#doubt === undefined) {
      this.#doubt = setTimeout(
        () => {
          this.#doubt = 'over';
          this.relist();
        },
        Math.min(holdMs, LONGEST_TIMER_MS),
      );
    }
    hooks?.onSynced?.();
    hooks?.onConfirmed?.();
  }

  #endDoubt(): void {
    if (typeof this.#doubt === 'object') clearTimeout(this.#doubt);
    this.#doubt = undefined;
  }

  /**
   * An etcd that was restored to an older snapshot takes a watch from the future and stays silent (FACTS of
   * kube-apiserver: no error, no bookmark). One object's page tells how far the server's history goes.
   */
  async #compareHistory(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion !== undefined) {
      this.#verb = 'list';
      const { resourceVersion } = await this.#options.client.list(this.#codec, {
        ...this.#selection(),
        limit: 1,
        signal,
      });
      if (isOlder(resourceVersion, this.#resourceVersion)) this.#resourceVersion = undefined;
    }
    this.#checkHistory = false;
  }

  /** What an error tells about how to go on. */
  #learn(error: unknown): void {
    const listed = this.#resourceVersion !== undefined;
    this.#checkHistory = true;
    // A version that the server keeps choking on (it answers 500 to one that is no number) is worth no third try.
    if (isStatus(error, 410, 504) || (this.#verb === 'watch' && this.#retry.failures >= 2))
      this.#resourceVersion = undefined;
    // Only a list tells what has gone since.
    if (error instanceof OverBudgetError) this.#resourceVersion = undefined;
    if (isStatus(error, 400) && this.#fieldSelector !== undefined) this.#fieldSelector = undefined;
    if (this.#verb === 'watch' && isStatus(error, 403)) {
      if (listed) this.#refusals++;
      if (this.#refusals === REFUSALS.believed) this.#options.hooks?.onWatchForbidden?.();
      this.#resourceVersion = undefined;
    }
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { retryAfterMs } = (error ?? {}) as { retryAfterMs?: number };
    const brokeOff = error === undefined || ['unreachable', 'idle'].includes(restartReason(error));
    const leastMs = error instanceof OverBudgetError ? OVER_BUDGET_PAUSE_MS : retryAfterMs;
    const backoffMs = this.#retry.nextDelayMs({ retryAfterMs: leastMs, brokeOff });
    const refused = this.#refusals > 0 && this.#verb === 'watch' && isStatus(error, 403);
    const { pollIntervalMs } = this.#options;
    const delayMs = !refused ? backoffMs : this.#polls ? pollIntervalMs : Math.min(REFUSALS.pauseMs, pollIntervalMs);
    const reason = refused ? 'poll' : error === undefined ? 'closed' : restartReason(error);
    this.#options.hooks?.onRestart?.({ reason, verb: this.#verb, error: refused ? undefined : error, delayMs });
    this.#lastTurn = performance.now() + delayMs;
    await this.#sleep(delayMs, { signal });
    this.#turn();
  }

  /** Watching is forbidden. */
  get #polls(): boolean {
    return this.#refusals >= REFUSALS.believed;
  }

  #selection() {
    const { namespace, labelSelector } = this.#options;
    return {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(this.#fieldSelector !== undefined && { fieldSelector: this.#fieldSelector }),
    };
  }

  #turn(): void {
    this.#lastTurn = performance.now();
  }
}

/** `namespace/name`, or the name alone. */
function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** 422 is kube-apiserver's word for it; silence is Calico's. */
const lacksWatchList = (error: unknown): boolean => isStatus(error, 422) || error instanceof IdleTimeoutError;
