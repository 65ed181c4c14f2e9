import { isDeepStrictEqual } from 'node:util';
import type {
  Change,
  DeletionGuard,
  Holding,
  ReflectorHooks,
  ReflectorOptions,
  RemoteBudget,
  Stored,
} from '@kube-semaphore/informers';
import type { KubeClient } from '@kube-semaphore/kube-client';
import type { Kind } from '@kube-semaphore/kube-objects';
import { Watched } from '@kube-semaphore/multicluster';

/** How a remote is watched, whatever the kind of objects. */
export type WatchOptions = {
  readonly client: KubeClient;
  readonly idleTimeoutMs: number;
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
export type Watch = Pick<Watched<Kind, Stored>, 'synced' | 'held' | 'silentMs' | 'run'>;

/** Watches a remote's objects of one kind. kube-apiserver itself serves all of these kinds, so a WatchList works. */
export function watch<K extends Kind, V extends Stored>(
  { guard, hooks, ...watching }: WatchOptions,
  { hold, claims, withoutClaim, ...options }: KindOptions<K, V>,
): Watched<K, V> {
  const holding = { guard, hold, claims, withoutClaim };
  return new Watched<K, V>({ ...watching, ...options, equal: isDeepStrictEqual, holding, hooks: hooks() });
}
