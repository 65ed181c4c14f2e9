import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Kind, KubeObject, TooLarge } from '@kube-semaphore/kube-objects';
import type { RestartReason } from './failure.ts';
import type { RemoteBudget } from './store/remote-budget.ts';
import type { Store, Stored } from './store/store.ts';

/** What a reflector reports to its app. All hooks are optional and synchronous. */
export type ReflectorHooks = {
  /** A list is complete: the store is what the source had a moment ago. Called after every list. */
  readonly onSynced?: () => void;
  /** The source answers: it accepted a list or a watch. */
  readonly onUp?: () => void;
  /** The source confirms what the store has: called after each list, and then with each event or bookmark. */
  readonly onConfirmed?: () => void;
  /** A watch or list ended and another will begin in `delayMs`. Without an `error` nothing is wrong, or nothing yet. */
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
  /** Dropped for good when the server answers 400: older ones don't know every field. `project` must check again. */
  readonly fieldSelector?: string;
  /** `never` for an aggregated API: Calico's accepts `sendInitialEvents` and never ends them (projectcalico/calico#11114). */
  readonly watchList: 'auto' | 'never';
  /**
   * What the store keeps of an object. Undefined: nothing, as if the object didn't exist.
   *
   * @param known what it keeps of the last version, to share memory with; never to decide
   */
  readonly project: (object: KubeObject<K>, known: V | undefined) => V | undefined;
  /** The same for an object that is too large to be read. Default: nothing. */
  readonly projectTooLarge?: (object: TooLarge) => V | undefined;
  readonly store: Store<V>;
  /** What all reflectors of the remote may keep together. Default: no limit, for the local cluster. */
  readonly budget?: RemoteBudget;
  /** A watch without an event for this long is opened again. */
  readonly idleTimeoutMs: number;
  /** A WatchList that is silent for this long before its final bookmark comes from a server that never sends one. */
  readonly initialEventsIdleMs?: number;
  /** How long deletions are held when a list is missing too many objects. After that, the next list is believed. */
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
