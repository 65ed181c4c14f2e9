import { isDeepStrictEqual } from 'node:util';
import {
  type Change,
  type DeletionGuard,
  type Holding,
  Reflector,
  type ReflectorHooks,
  type ReflectorOptions,
  type RemoteBudget,
  Store,
  type Stored,
} from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Kind } from '@kube-semaphore/kube-objects';

/** How a remote is watched, whatever the kind of objects. */
export type WatchOptions = {
  readonly client: KubeClient;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly budget: RemoteBudget;
  readonly guard: DeletionGuard;
  readonly holdMs: number;
  /** For one more watch. */
  readonly hooks: () => ReflectorHooks;
  /** The peer of this Node may have changed. */
  readonly onChange: (node: string) => void;
};

type KindOptions<K extends Kind, V extends Stored> = Pick<
  ReflectorOptions<K, V>,
  'kind' | 'project' | 'projectTooLarge'
> &
  Omit<Holding<V>, 'guard'> & { readonly onChange: (change: Change<V>) => void };

/** What is known of a watch, whatever its kind. */
export type Watch = Pick<WatchedStore<Kind, Stored>, 'synced' | 'held' | 'silentMs' | 'run'>;

/** A remote's objects of one kind, and the watch that keeps them up to date. */
export class WatchedStore<K extends Kind, V extends Stored> {
  readonly #store: Store<V>;
  readonly #reflector: Reflector<K, V>;

  /** All of these kinds are served by kube-apiserver itself, so a WatchList works. */
  constructor({ guard, hooks, ...watching }: Omit<WatchOptions, 'onChange'>, options: KindOptions<K, V>) {
    const { hold, claims, withoutClaim, onChange, ...projection } = options;
    const holding = { guard, hold, claims, withoutClaim };
    this.#store = new Store<V>({ equal: isDeepStrictEqual, onChange, holding });
    this.#reflector = new Reflector({
      ...watching,
      ...projection,
      watchList: 'auto',
      store: this.#store,
      hooks: hooks(),
    });
  }

  /** By name; undefined before the first list. */
  get objects(): ReadonlyMap<string, V> | undefined {
    const { view } = this.#store;
    return view.synced ? view.objects : undefined;
  }

  get synced(): boolean {
    return this.#store.view.synced;
  }

  get size(): number {
    return this.#store.size;
  }

  /** How many objects are held. */
  get held(): number {
    return this.#store.held;
  }

  /** Milliseconds since the last activity of the watch. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Adds an object that the first list is measured against. */
  seed(key: string, value: V): void {
    this.#store.seed(key, value);
  }

  /** Lists all objects again. */
  relist(): void {
    this.#reflector.relist();
  }

  /** Watches until `signal` is aborted; once. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#reflector.run({ signal });
  }
}
