import { apiErrorOf, ConnectionError, IdleTimeoutError, isStatus, type RunOptions } from '@kube-semaphore/kube-client';
import type { Kind, KubeObject, WatchEvent } from '@kube-semaphore/kube-objects';
import { type RestartReason, restartReason, retryHints } from './failure.ts';
import { Heartbeat } from './heartbeat.ts';
import { ListerWatcher } from './lister-watcher.ts';
import type { Listing } from './listing.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { RelistTriggers } from './relist-triggers.ts';
import { OverBudgetError } from './store/remote-budget.ts';
import { isOlder } from './resource-version.ts';
import { Retry } from './retry.ts';
import { sleep } from './sleep.ts';
import type { Stored } from './store/store.ts';
import { StoreWriter } from './store/store-writer.ts';
import { WatchPermission } from './watch-permission.ts';

/** How long no WatchList is requested from a server that lacks it; by then it may be a newer one. */
const WITHOUT_WATCH_LIST_MS = 3_600_000;

/** So many idle timeouts without a confirmation are too long: bookmarks come each minute. */
const UNCONFIRMED_IDLE_TIMES = 2;

/**
 * Keeps a store equal to one resource of one API server: lists it, then watches, forever. Faults of the server only
 * cost time: the store keeps what was last known, and the next attempt begins after a backoff.
 *
 * It lists by WatchList (KEP-3157) where that works, otherwise by pages, and remembers which. `run` resolves only when
 * its signal is aborted, and never rejects.
 */
export class Reflector<K extends Kind, V extends Stored> {
  readonly #options: ReflectorOptions<K, V>;
  readonly #source: ListerWatcher<K>;
  readonly #writer: StoreWriter<K, V>;
  readonly #heartbeat = new Heartbeat();
  readonly #retry: Retry;
  readonly #triggers: RelistTriggers;
  readonly #permission = new WatchPermission();
  readonly #now: () => number;
  /** When a WatchList may be requested, as of `now`. */
  #watchListFrom: number;
  /** Where the next watch begins; undefined: list first. */
  #resourceVersion: string | undefined;
  /** The last attempt failed: check first that the server still has the history that we know. */
  #checkHistory = false;
  /** The attempt that runs has an open watch, and a complete list before it. */
  #isOpen = false;
  /** When the source last confirmed what the store has, as of `now`. */
  #confirmedAt = -Infinity;

  constructor(options: ReflectorOptions<K, V>) {
    const { random = Math.random, now = () => performance.now() } = options;
    this.#options = options;
    this.#source = new ListerWatcher({ ...options, random }, this.#heartbeat);
    this.#writer = new StoreWriter(options);
    this.#retry = new Retry({ random });
    this.#triggers = new RelistTriggers(now);
    this.#now = now;
    this.#watchListFrom = options.watchList === 'auto' ? 0 : Infinity;
  }

  /** Milliseconds since this loop last did anything; far more than `idleTimeoutMs` means that it hangs. */
  get silentMs(): number {
    return this.#heartbeat.silentMs;
  }

  /** Lists again now, whatever is under way: to compare. */
  relist(): void {
    this.#triggers.relist();
  }

  /** A write has shown that the store may be wrong: lists again, but not more often than every few seconds. */
  recheck(): void {
    this.#triggers.recheck();
  }

  /**
   * Stores the answer to a write of ours, ahead of the watch. It is skipped if the watch has come as far: the watch may
   * have reported the object's deletion, and the object would then stay in the store until the next list.
   */
  wrote(object: KubeObject<K>): void {
    const { resourceVersion } = (object as KubeObject<Kind>).metadata;
    const seen = this.#resourceVersion;
    if (seen !== undefined && (seen === resourceVersion || isOlder(resourceVersion, seen))) return;
    this.#writer.put(object);
  }

  async run({ signal }: RunOptions): Promise<void> {
    while (!signal.aborted) {
      const { sameServer } = this.#options.client;
      const ends = [signal, this.#triggers.beginAttempt(), ...(sameServer === undefined ? [] : [sameServer])];
      await this.#attempt(AbortSignal.any(ends));
      // Versions of another cluster mean nothing, or something else.
      if (this.#triggers.isRequested || sameServer?.aborted === true) this.#resourceVersion = undefined;
    }
    this.#triggers.stop();
    this.#writer.close();
  }

  /** One attempt and the pause after it; an abort ends either. */
  async #attempt(signal: AbortSignal): Promise<void> {
    let failure: unknown;
    this.#isOpen = false;
    try {
      await this.#listAndWatch(signal);
    } catch (error) {
      failure = error;
    }
    this.#writer.endList();
    if (signal.aborted) return;
    const reason = restartReason(failure, { wasOpen: this.#isOpen });
    if (failure !== undefined) this.#learnFrom(failure, reason);
    // A load balancer may end each watch before its first bookmark: then only a list confirms what we know.
    const isEnded = reason === 'cut' || reason === 'closed';
    const unconfirmedMs = this.#now() - this.#confirmedAt;
    if (isEnded && unconfirmedMs > UNCONFIRMED_IDLE_TIMES * this.#options.idleTimeoutMs)
      this.#resourceVersion = undefined;
    await this.#pause(reason, failure, signal);
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#checkHistory) await this.#compareHistory(signal);
    if (this.#resourceVersion === undefined) {
      const isAllowed = this.#now() >= this.#watchListFrom && !this.#permission.isForbidden;
      if (isAllowed && (await this.#watchList(signal)) === 'served') return;
    }
    await this.#watch(this.#resourceVersion ?? (await this.#list(signal)), signal);
  }

  /** @returns `unsupported` if this server had to be listed by pages; the caller continues with a watch */
  async #watchList(signal: AbortSignal): Promise<'served' | 'unsupported'> {
    const { idleTimeoutMs, initialEventsIdleMs = 10_000 } = this.#options;
    const listing = this.#writer.beginList();
    let isComplete = false;
    try {
      const stream = await this.#openWatch({ sendInitialEvents: true, idleTimeoutMs: initialEventsIdleMs }, signal);
      for await (const batch of stream) {
        this.#heartbeat.beat();
        for (const event of batch) {
          if (isComplete) this.#follow(event);
          else if (this.#collect(event, listing)) {
            isComplete = true;
            this.#isOpen = true;
            stream.setIdleTimeout(idleTimeoutMs);
          }
        }
        if (isComplete) this.#confirmed();
      }
      // A server that shuts down ends its watches normally. That doesn't mean that it lacks WatchList.
      if (!isComplete) throw new ConnectionError('the server ended a WatchList before its list was complete');
      return 'served';
    } catch (error) {
      const isLacking = lacksWatchList(error);
      if (isComplete || signal.aborted || !(isLacking || isStatus(error, 403))) throw error;
      await this.#list(signal);
      // Only now that pages work: a server that hangs answers neither.
      if (isLacking) this.#watchListFrom = this.#now() + WITHOUT_WATCH_LIST_MS;
      return 'unsupported';
    }
  }

  /** Lists by pages. @returns the version of the list */
  async #list(signal: AbortSignal): Promise<string> {
    const listing = this.#writer.beginList();
    let resourceVersion = '';
    for await (const { page, limit } of this.#source.pages(signal)) {
      for (const object of page.items) this.#writer.put(object, listing);
      for (const object of page.tooLarge) this.#writer.putTooLarge(object, listing);
      listing.endPage(limit);
      ({ resourceVersion } = page);
    }
    this.#options.hooks?.onUp?.();
    this.#replace(listing, resourceVersion);
    return resourceVersion;
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const stream = await this.#openWatch({ resourceVersion, idleTimeoutMs: this.#options.idleTimeoutMs }, signal);
    this.#isOpen = true;
    for await (const batch of stream) {
      this.#heartbeat.beat();
      for (const event of batch) this.#follow(event);
      this.#confirmed();
    }
  }

  #confirmed(): void {
    this.#confirmedAt = this.#now();
    this.#options.hooks?.onConfirmed?.();
  }

  async #openWatch(start: Parameters<ListerWatcher<K>['watch']>[0], signal: AbortSignal) {
    const stream = await this.#source.watch(start, signal);
    this.#options.hooks?.onUp?.();
    this.#permission.granted();
    this.#retry.accepted();
    return stream;
  }

  /** Takes one of the initial events of a WatchList. @returns whether it was the last */
  #collect(event: WatchEvent<KubeObject<K>>, listing: Listing): boolean {
    if (event.type === 'ERROR') throw this.#errorOf(event);
    if (event.type !== 'BOOKMARK') {
      // Its version is that object's own, where no watch can begin.
      this.#writer.apply(event, listing);
      return false;
    }
    if (event.initialEventsEnd) this.#replace(listing, event.resourceVersion);
    return event.initialEventsEnd;
  }

  /** Takes one event of a watch; the next watch begins after it. */
  #follow(event: WatchEvent<KubeObject<K>>): void {
    if (event.type === 'ERROR') throw this.#errorOf(event);
    this.#retry.heard();
    if (event.type === 'BOOKMARK') {
      this.#resourceVersion = event.resourceVersion;
      return;
    }
    this.#writer.apply(event);
    const { metadata } = event.type === 'DELETED' ? event : (event.object as KubeObject<Kind>);
    this.#resourceVersion = metadata.resourceVersion;
  }

  #errorOf({ status }: Extract<WatchEvent<never>, { type: 'ERROR' }>): Error {
    return apiErrorOf(status, `watch ${this.#options.kind.plural}`);
  }

  /** A list is complete: the store becomes what it named, and the watch begins at its version. */
  #replace(listing: Listing, resourceVersion: string): void {
    const { store, hooks, holdMs = 0 } = this.#options;
    this.#resourceVersion = resourceVersion;
    this.#writer.finishList(listing, { isHoldOver: this.#triggers.isHoldOver });
    if (store.held === 0) this.#triggers.endHold();
    else this.#triggers.holdFor(holdMs);
    hooks?.onSynced?.();
    this.#confirmed();
  }

  /**
   * After an etcd was restored to an older snapshot, kube-apiserver accepts a watch from the future and stays silent:
   * no error, no bookmark.
   */
  async #compareHistory(signal: AbortSignal): Promise<void> {
    const known = this.#resourceVersion;
    if (known !== undefined && isOlder(await this.#source.newestVersion(signal), known))
      this.#resourceVersion = undefined;
    this.#checkHistory = false;
  }

  /** Decides from an error where the next attempt begins. */
  #learnFrom(error: unknown, reason: RestartReason): void {
    const hadListed = this.#resourceVersion !== undefined;
    const isWatch = this.#source.verb === 'watch';
    this.#checkHistory = true;
    if (isStatus(error, 400)) this.#source.dropFieldSelector();
    const isForbidden = isWatch && isStatus(error, 403);
    if (isForbidden && hadListed && this.#permission.refused()) this.#options.hooks?.onWatchForbidden?.();
    // Some servers answer 500 to a version that they can't read, so the third attempt lists.
    const isStuck = isWatch && reason !== 'cut' && this.#retry.failures >= 2;
    if (isForbidden || isStuck || isStatus(error, 410, 504) || error instanceof OverBudgetError)
      this.#resourceVersion = undefined;
  }

  async #pause(ended: RestartReason, error: unknown, signal: AbortSignal): Promise<void> {
    const { hooks, pollIntervalMs } = this.#options;
    const { verb } = this.#source;
    const backoffMs = this.#retry.nextDelayMs(retryHints(ended, error));
    const isRefused = this.#permission.isRefused && verb === 'watch' && isStatus(error, 403);
    const delayMs = isRefused ? this.#permission.delayMs(pollIntervalMs) : backoffMs;
    const reason = isRefused ? 'poll' : ended;
    // After a cut, only the next attempt shows whether the source is lost.
    const isHarmless = isRefused || reason === 'cut';
    hooks?.onRestart?.({ reason, verb, error: isHarmless ? undefined : error, delayMs });
    this.#heartbeat.pauseFor(delayMs);
    await (this.#options.sleep ?? sleep)(delayMs, { signal });
    this.#heartbeat.beat();
  }
}

/** kube-apiserver answers 422; Calico's aggregated server stays silent. */
const lacksWatchList = (error: unknown): boolean => isStatus(error, 422) || error instanceof IdleTimeoutError;
