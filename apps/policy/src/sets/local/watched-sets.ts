import {
  type ClusterWatches,
  type LocalWrites,
  type PlannedWrite,
  POLL_INTERVAL_MS,
} from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector, type ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { PolicyOptions } from '../../config/options.ts';
import type { Change } from '../desired/change.ts';
import { changeEvent, objectOf } from '../desired/change-facts.ts';
import { configuredIdentity } from '../desired/identity.ts';
import { readOwner } from '../desired/labels.ts';
import { LocalSets, type LocalSetReflector, type LocalSetsOptions } from './sets.ts';
import { changeSender, needsRecheck, type SendChange } from './writer.ts';

export type WatchedSetsOptions = Pick<LocalSetsOptions, 'onChange' | 'counts'> & {
  readonly client: KubeClient;
  readonly options: PolicyOptions;
  readonly watches: ClusterWatches;
  readonly writes: LocalWrites;
};

/** The sets of the local cluster: watches them by the API that the cluster has, and writes them by it. */
export class WatchedSets {
  readonly sets: LocalSets;
  readonly #options: WatchedSetsOptions;
  readonly #hooks: ReflectorHooks;
  /** Undefined until the API is known. */
  #api: { readonly reflector: LocalSetReflector; readonly send: SendChange } | undefined;
  /** Whether the cluster had no API of Calico when we asked first. */
  #wereMissing = false;
  readonly #cameLate = Promise.withResolvers<void>();

  constructor(options: WatchedSetsOptions) {
    this.#options = options;
    this.sets = new LocalSets({ ...options, configured: configuredIdentity(options.options) });
    this.#hooks = options.watches.hooks();
  }

  get synced(): boolean {
    return this.sets.synced || this.#wereMissing;
  }

  /** Resolves when sets are listed that were `missing` at first; else never. */
  get cameLate(): Promise<void> {
    return this.#cameLate.promise;
  }

  /** Milliseconds since the watch last did anything. */
  get silentMs(): number {
    return this.#api?.reflector.silentMs ?? 0;
  }

  /** Lists everything again, to compare. */
  relist(): void {
    this.#api?.reflector.relist();
  }

  /** The cluster has no API of Calico, so nothing waits for its sets. When it has one, `run` watches them. */
  missing(): void {
    this.#wereMissing = true;
    this.#hooks.onSynced?.();
    this.#options.watches.drop(this.#hooks);
  }

  /** Watches until `signal` is aborted. */
  async run(api: CalicoApi, { signal }: RunOptions): Promise<void> {
    const { client, options, watches } = this.#options;
    const hooks = this.#wereMissing
      ? { ...watches.hooks({ until: signal }), onSynced: this.#cameLate.resolve }
      : this.#hooks;
    const reflector = new Reflector({
      client,
      kind: globalNetworkSetKind(api),
      // The group projectcalico.org is served by Calico's aggregated API server.
      watchList: api === 'projectcalico.org/v3' ? 'never' : 'auto',
      project: (object) => this.sets.read(object),
      store: this.sets.store,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks,
    });
    this.#api = { reflector, send: changeSender(client, api) };
    await reflector.run({ signal });
  }

  /**
   * Writes one change when it is its turn, and updates the store, so that the next reconcile finds what was written.
   *
   * @throws as `LocalWrites.write`
   */
  async write(change: Change, { since }: Pick<ReconcileContext, 'since'>): Promise<void> {
    const { watches, writes } = this.#options;
    if (this.#api === undefined) throw new Error('the API of the local sets is not known');
    const { reflector, send } = this.#api;
    const isDeletion = change.kind === 'delete';
    const { name: key, labels } = isDeletion ? change.from : change.to;
    const remote = readOwner(labels, this.sets.domains)?.cluster;
    const write = {
      key,
      account: remote,
      isDeletion,
      since,
      remote,
      repairs: remote,
      event: () => changeEvent(change),
    };
    try {
      const written = await writes.write(write, (options) => send(change, options));
      if (written !== undefined) reflector.wrote(written);
      else if (isDeletion) this.sets.store.delete(change.from.name, change.from.uid);
    } catch (error) {
      if (needsRecheck(error, change, watches.isWatchForbidden)) reflector.recheck();
      throw error;
    }
  }

  /** A set wasn't written, or its reconcile failed. */
  failed(failure: Parameters<LocalWrites['failed']>[0]): void {
    this.#options.writes.failed(failure);
  }

  /** What a plan asks the API server: nothing about deletions. */
  plannedWrites(changes: readonly Change[]): readonly PlannedWrite[] {
    const { send } = this.#api ?? {};
    if (send === undefined) return [];
    return changes
      .filter(({ kind }) => kind !== 'delete')
      .map((change) => ({ object: objectOf(change), send: (options) => send(change, options) }));
  }
}
