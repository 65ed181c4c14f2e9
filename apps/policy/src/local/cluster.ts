import { ClusterWatches, LocalWrites, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../config/options.ts';
import type { Change } from '../desired/change.ts';
import { changeEvent } from '../desired/change-facts.ts';
import { configuredIdentity } from '../desired/identity.ts';
import { readOwner } from '../desired/labels.ts';
import type { PolicyMetrics } from '../metrics.ts';
import { calicoApiOf } from './calico-api.ts';
import { LocalSets, type LocalSetReflector } from './sets.ts';
import { changeSender, type SendChange } from './writer.ts';

export type LocalClusterOptions = {
  readonly client: KubeClient;
  readonly leadership: Leadership;
  readonly options: PolicyOptions;
  /** Names of the remotes in the config. */
  readonly remotes: readonly string[];
  readonly metrics: PolicyMetrics;
  readonly log: Logger;
  /** A set of these keys changed, or a set that has one of their names. */
  readonly onChange: (keys: readonly string[]) => void;
};

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/** The local cluster: finds out by which API its sets are written, watches them, and writes them. */
export class LocalCluster {
  readonly what = 'the local sets';
  readonly sets: LocalSets;
  readonly #options: LocalClusterOptions;
  readonly #watches: ClusterWatches;
  readonly #writes: LocalWrites;
  readonly #listed = Promise.withResolvers<void>();
  /** Resolves when the sets are known. */
  readonly listed = this.#listed.promise;
  /** Undefined until the API is known. */
  #api: { readonly reflector: LocalSetReflector; readonly send: SendChange } | undefined;
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;
  #isWatchForbidden = false;

  constructor(options: LocalClusterOptions) {
    const { leadership, remotes, metrics, log, onChange } = options;
    const { writeConcurrency, maxRemoteWrites } = options.options;
    this.#options = options;
    this.sets = new LocalSets({
      clusters: new Set(remotes),
      configured: configuredIdentity(options.options),
      onChange,
      onOrphans: (cluster, count) => metrics.orphans.set({ cluster }, count),
    });
    this.#writes = new LocalWrites({
      leadership,
      concurrency: writeConcurrency,
      what: 'set',
      remotes,
      objectsOf: (remote) => this.sets.ownSets(remote),
      perSecond: maxRemoteWrites,
      metrics,
      log,
    });
    this.#watches = new ClusterWatches({
      cluster: LOCAL,
      metrics,
      log,
      onFirstSync: this.#listed.resolve,
      onWatchForbidden: () => (this.#isWatchForbidden = true),
    });
  }

  isSynced(): boolean {
    return this.sets.synced;
  }

  loops() {
    return [{ name: this.what, silentMs: this.#api?.reflector.silentMs ?? 0 }];
  }

  /** Why the sets aren't known yet. */
  failure(): unknown {
    return this.#watches.failure ?? this.#undiscovered;
  }

  /** Lists the sets again, to compare. */
  relist(): void {
    this.#api?.reflector.relist();
  }

  /** A reconcile failed. @returns whether a write did */
  failed(failure: Parameters<LocalWrites['failed']>[0]): boolean {
    return this.#writes.failed(failure);
  }

  /** Watches the sets until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    const { client, options, log } = this.#options;
    const onFailure = (error: unknown): void => {
      const level = this.#undiscovered === undefined ? 'warn' : 'debug';
      log[level]({ cluster: LOCAL, error }, 'API groups not listed, retrying');
      this.#undiscovered = error;
    };
    const api = await calicoApiOf(options.calicoApi, client, { signal, onFailure });
    if (options.calicoApi === 'auto') log.info({ api }, 'Calico API chosen');
    const reflector = new Reflector({
      client,
      kind: globalNetworkSetKind(api),
      // The group projectcalico.org is served by Calico's aggregated API server.
      watchList: api === 'projectcalico.org/v3' ? 'never' : 'auto',
      project: (object) => this.sets.read(object),
      store: this.sets.store,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#watches.hooks(),
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
    if (this.#api === undefined) throw new Error('the API of the local sets is not known');
    const { reflector, send } = this.#api;
    const isDeletion = change.kind === 'delete';
    const remote = readOwner((isDeletion ? change.from : change.to).labels, this.sets.domains)?.cluster;
    const write = { payer: remote, isDeletion, since, remote, repairs: remote, event: () => changeEvent(change) };
    try {
      const written = await this.#writes.write(write, (options) => send(change, options));
      if (written !== undefined) reflector.wrote(written);
      else if (isDeletion) this.sets.store.delete(change.from.name, change.from.uid);
    } catch (error) {
      // Another program wrote meanwhile. A watch shows what it wrote; without a watch, only a list does. A set that
      // exists although we don't know it was created just now, or our last list lacked it.
      if (isStale(error) && (this.#isWatchForbidden || change.kind === 'create')) reflector.recheck();
      throw error;
    }
  }
}

const isStale = (error: unknown): boolean => [404, 409].includes((error as { status?: number }).status ?? 0);
