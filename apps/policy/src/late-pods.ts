import type { Change, Store, Stored } from '@kube-semaphore/informers';
import {
  AddressIndex,
  type Holder,
  lateAtMs,
  type Lifetime,
  type Loss,
  lossOf,
} from '@kube-semaphore/network-policies';

export type LatePodsOptions<V extends Stored> = {
  /** What is known of the remote's Pods, by `namespace/name`. */
  readonly view: () => Store<V>['view'];
  /** What a Pod has by its status. */
  readonly addressesOf: (pod: V) => readonly string[];
  /** Whether these are its own: known to be there, and not those of its node. */
  readonly isHolder: (pod: V) => boolean;
  /** The Pod with what it lost. */
  readonly without: (pod: V, loss: Loss) => V;
  /** As of `LossRules`. */
  readonly isTimeEnough: boolean;
  /** Whether two versions of a Pod make no difference, whether it is being deleted or not. */
  readonly equal: (a: V, b: V) => boolean;
  /** A Pod came, changed or went, as it counts: without the addresses that it lost. */
  readonly onChange: (change: Change<V>) => void;
  /** Default: `Date.now`. */
  readonly now?: () => number;
};

/** A Pod that is late. */
type Late<V> = {
  readonly pod: V;
  /** What was reported of it last; undefined: nothing. */
  counted: V | undefined;
};

/** Thousands of Pods of lost nodes are late together, and one look at all Pods finds who has their addresses. */
const BATCH_MS = 100;
/** Somebody may set the clock, and a timer takes no more than 24 days. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Stands between a store of a remote's Pods and who uses it: takes from late Pods the addresses that they lost, also when no
 * event says so. It only keeps what late Pods need: for 50,000 others, an index of all addresses would take megabytes.
 */
export class LatePods<V extends Lifetime & Stored> {
  readonly #options: Required<LatePodsOptions<V>>;
  /** When Pods that are being deleted will be late. */
  readonly #dueMs = new Map<string, number>();
  readonly #late = new Map<string, Late<V>>();
  /** Of the addresses of late Pods. */
  #index = new AddressIndex();
  /** Addresses of late Pods that may have another owner now, or that aren't in the index yet. */
  readonly #open = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Infinity;
  #stopped = false;

  constructor(options: LatePodsOptions<V>) {
    this.#options = { now: Date.now, ...options };
  }

  /** A change of the store, in order. */
  changed(change: Change<V>): void {
    const { key, current } = change;
    const late = this.#late.get(key);
    const before = late === undefined ? change.previous : late.counted;
    if (this.#late.size > 0) this.#follow(change);
    this.#late.delete(key);
    this.#dueMs.delete(key);
    // Without an address, it has nothing to lose.
    const hasAddress = current !== undefined && this.#options.addressesOf(current).length > 0;
    const dueMs = hasAddress ? lateAtMs(current) : undefined;
    if (current !== undefined && dueMs !== undefined && dueMs <= this.#options.now()) {
      // Who has its addresses isn't known yet, so what was reported of it stays.
      this.#becomeLate(key, { pod: current, counted: before });
    } else {
      if (dueMs !== undefined) this.#dueMs.set(key, dueMs);
      this.#report(key, before, current);
    }
    if (late !== undefined && this.#late.size === 0) this.#forget();
    if (this.#open.size > 0) this.#wake(this.#options.now() + BATCH_MS);
    else if (dueMs !== undefined) this.#wake(dueMs);
    else if (this.#dueMs.size === 0) this.#sleep();
  }

  /** Decides about late Pods. Call it when the first list is complete, before anybody uses that; later a timer does. */
  settle(): void {
    const { view, now, addressesOf } = this.#options;
    const known = view();
    if (!known.synced) return;
    this.#sleep();
    const nowMs = now();
    let nextMs = Infinity;
    for (const [key, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      const pod = known.objects.get(key)!;
      this.#dueMs.delete(key);
      this.#becomeLate(key, { pod, counted: pod });
    }
    this.#find(known.objects);
    for (const [key, late] of this.#late)
      if (late.counted === undefined || addressesOf(late.pod).some((address) => this.#open.has(address)))
        this.#decide(key, late);
    this.#open.clear();
    this.#wake(nextMs);
  }

  /** No timer is left. */
  stop(): void {
    this.#stopped = true;
    this.#sleep();
  }

  #becomeLate(key: string, late: Late<V>): void {
    this.#late.set(key, late);
    for (const address of this.#options.addressesOf(late.pod)) this.#open.add(address);
  }

  /** Keeps the index up to date. */
  #follow({ key, previous, current }: Change<V>): void {
    const { addressesOf, isHolder } = this.#options;
    for (const address of previous === undefined ? [] : addressesOf(previous)) {
      if (!this.#index.has(address)) continue;
      this.#index.remove(address, key);
      this.#open.add(address);
    }
    if (current === undefined || !isHolder(current)) return;
    for (const address of addressesOf(current)) {
      if (!this.#index.has(address)) continue;
      this.#index.add(address, holderOf(key, current));
      this.#open.add(address);
    }
  }

  /** Finds who has the addresses that aren't in the index. */
  #find(pods: ReadonlyMap<string, V>): void {
    const missing = new Set([...this.#open].filter((address) => !this.#index.has(address)));
    if (missing.size === 0) return;
    const { addressesOf, isHolder } = this.#options;
    for (const [key, pod] of pods)
      for (const address of isHolder(pod) ? addressesOf(pod) : [])
        if (missing.has(address)) this.#index.add(address, holderOf(key, pod));
  }

  #decide(key: string, late: Late<V>): void {
    const { addressesOf, without, isTimeEnough } = this.#options;
    const { pod, counted } = late;
    const ownerOf = (address: string): Holder | undefined => this.#index.ownerOf(address);
    const loss = lossOf(holderOf(key, pod), addressesOf(pod), { ownerOf, isTimeEnough });
    late.counted = loss.lost.length === 0 ? pod : without(pod, loss);
    this.#report(key, counted, late.counted);
  }

  #report(key: string, previous: V | undefined, current: V | undefined): void {
    const { equal, onChange } = this.#options;
    if (previous === undefined && current === undefined) return;
    if (previous !== undefined && current !== undefined && equal(previous, current)) return;
    onChange({ key, previous, current });
  }

  #forget(): void {
    this.#index = new AddressIndex();
    this.#open.clear();
  }

  /** Decides at that time, or before. The first list has no timer: `settle` is called with its end. */
  #wake(atMs: number): void {
    if (this.#stopped || atMs >= this.#timerMs || !this.#options.view().synced) return;
    this.#sleep();
    this.#timerMs = atMs;
    const waitMs = Math.min(Math.max(0, atMs - this.#options.now()), LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => this.settle(), waitMs).unref();
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#timerMs = Infinity;
  }
}

const holderOf = (pod: string, { created, deletionMs }: Lifetime): Holder =>
  deletionMs === undefined ? { pod, created } : { pod, created, deletionMs };
