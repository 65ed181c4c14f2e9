import {
  Reflector,
  type ReflectorHooks,
  type ReflectorOptions,
  Store,
  type Stored,
  type StoreOptions,
} from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Kind, KubeObject } from '@kube-semaphore/kube-objects';
import { POLL_INTERVAL_MS } from './periodic.ts';

export type WatchedOptions<K extends Kind, V extends Stored> = StoreOptions<V> &
  Omit<ReflectorOptions<K, V>, 'store' | 'watchList' | 'pollIntervalMs'> &
  Partial<Pick<ReflectorOptions<K, V>, 'watchList'>>;

/**
 * For what is made of all objects together: `update` follows each change, each list, and each request that the server accepts, also
 * before the first list; `failed` follows each attempt that failed.
 */
export const asWhole = ({
  update,
  failed,
}: {
  readonly update: () => void;
  readonly failed: (error: unknown) => void;
}): { readonly onChange: () => void; readonly hooks: ReflectorHooks } => ({
  onChange: update,
  hooks: {
    onSynced: update,
    // After an outage, a watch may go on from where it was, without a list.
    onUp: update,
    onRestart: ({ error }) => {
      if (error !== undefined) failed(error);
    },
  },
});

/** Objects of one kind in one cluster, and the watch that keeps them up to date. */
export class Watched<K extends Kind, V extends Stored> {
  readonly store: Store<V>;
  readonly #reflector: Reflector<K, V>;

  constructor({ equal, onChange, holding, ...watch }: WatchedOptions<K, V>) {
    this.store = new Store<V>({ equal, onChange, ...(holding && { holding }) });
    this.#reflector = new Reflector<K, V>({
      watchList: 'auto',
      ...watch,
      pollIntervalMs: POLL_INTERVAL_MS,
      store: this.store,
    });
  }

  /** Whether a first list is complete. */
  get synced(): boolean {
    return this.store.view.synced;
  }

  /** By key; undefined before the first list. */
  get objects(): ReadonlyMap<string, V> | undefined {
    const { view } = this.store;
    return view.synced ? view.objects : undefined;
  }

  /** How many there are, also before the first list. */
  get size(): number {
    return this.store.size;
  }

  /** How many of them are held. */
  get held(): number {
    return this.store.held;
  }

  /** Milliseconds since the last activity of the watch. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** An object; undefined if it doesn't exist, or before the first list. */
  get(key: string): V | undefined {
    return this.objects?.get(key);
  }

  /** All objects, in no order; none before the first list. */
  values(): readonly V[] {
    return [...(this.objects?.values() ?? [])];
  }

  /** Adds an object that the first list is measured against. */
  seed(key: string, value: V): void {
    this.store.seed(key, value);
  }

  /** Stores the answer to a write of ours, before the watch reports it. */
  wrote(object: KubeObject<K>): void {
    this.#reflector.wrote(object);
  }

  /** Lists all objects again, to compare. */
  relist(): void {
    this.#reflector.relist();
  }

  /** The same, as a write has shown that the store may be wrong; not more often than every few seconds. */
  recheck(): void {
    this.#reflector.recheck();
  }

  /** Watches until `signal` is aborted; once. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#reflector.run({ signal });
  }
}
