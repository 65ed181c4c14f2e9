import {
  type Feature,
  type KeyContext,
  type Leader,
  type LocalWrites,
  type PlannedWrite,
  type Remote,
  type Remotes,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Logger, shared } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../config/options.ts';
import { prefixesOf, type RemoteSettings, type Settings } from '../config/settings.ts';
import type { LocalDrains } from '../endpoints/local/drains.ts';
import type { LocalTunnels } from '../endpoints/local/tunnels.ts';
import type { ClusterPropertyObjects } from '../endpoints/remote/cluster-properties.ts';
import { type OrderedService, RoutingStates } from '../endpoints/routing-states.ts';
import { Gaps } from '../metrics/gaps.ts';
import type { LocalCounts } from '../metrics/local-counts.ts';
import type { MirrorMetrics } from '../metrics/metrics.ts';
import type { QueueMetrics } from '../metrics/queue.ts';
import type { Plan } from '../plan.ts';
import { askedNames } from './desired/asked-names.ts';
import { Decisions } from '../endpoints/decisions.ts';
import { Accounts } from '../endpoints/local/accounts.ts';
import type { GlobalParticipant } from './desired/globals/service.ts';
import { ChangeWriter } from './local/change-writer.ts';
import { missingNamespace, type NamespaceCheck, warnOfMissingNamespace } from './local/mirror-namespace.ts';
import { LocalObjects } from './local/objects.ts';
import { ObjectWriter } from './local/object-writer.ts';
import { plannedWrites } from './local/planned-writes.ts';
import { type ResolvedName, resolveNames } from './local/resolve-names.ts';
import type { LocalZones } from './local/zones.ts';
import { ServiceReconciler } from './reconciler.ts';
import { SourceClusters, type SourceClustersOptions } from './remote/source-clusters.ts';
import { ServiceKeys } from './service-keys.ts';
import { Targets } from './targets.ts';

export type MirrorsOptions = Pick<SourceClustersOptions, 'onStale'> & {
  readonly options: MirrorOptions;
  readonly settings: Settings;
  /** Of the local cluster. */
  readonly client: KubeClient;
  readonly remotes: Remotes<RemoteSettings>;
  readonly leader: Pick<Leader, 'queue'>;
  readonly observer: QueueMetrics;
  readonly writes: Pick<LocalWrites, 'write' | 'failed'>;
  readonly counts: LocalCounts;
  readonly zones: LocalZones;
  readonly properties: ClusterPropertyObjects;
  readonly drains: LocalDrains;
  readonly tunnels: LocalTunnels;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
};

/** How often reads of `/status` may ask DNS. */
const ASK_DNS_MS = 10_000;

/**
 * Mirrors the Services of remote clusters, and merges those of all clusters into global ones. The local objects are listed
 * first, because the first lists of the remotes are measured against them.
 */
export class Mirrors implements Feature {
  readonly local: LocalObjects;
  readonly clusters: SourceClusters;
  readonly #writes: MirrorsOptions['writes'];
  readonly #queue: Decisions<GlobalParticipant>;
  readonly #states = new RoutingStates();
  readonly #keys: ServiceKeys;
  readonly #writer: ObjectWriter;
  readonly #namespace: NamespaceCheck;
  readonly #accounts: Accounts;
  readonly #reconciler: ServiceReconciler;
  /** Asks DNS, at most once in ten seconds. */
  readonly names: () => Promise<readonly ResolvedName[]>;

  constructor(options: MirrorsOptions) {
    const { settings, client, remotes, leader, observer, writes, counts, log } = options;
    this.#writes = writes;
    const queue = new Decisions<GlobalParticipant>(leader.queue(this, { observer }));
    const gaps = new Gaps();
    const writer = new ObjectWriter(client, settings.mirrorNamespace);
    const local = new LocalObjects({
      ...options,
      onChange: (service) => {
        // Before, nothing can be decided, and each cluster enqueues all keys once it is listed. No `since`: a repair counts in
        // `repairs_total`, not in `propagation_seconds`.
        if (local.isSynced()) queue.enqueue(keys.ofName(service));
      },
      observers: [counts, gaps],
    });
    const keys = new ServiceKeys({ ...options, local });
    const clusters = new SourceClusters({ ...options, local, keys, queue });
    const accounts = new Accounts({ remotes: remotes.byName, sharersOf: (key) => clusters.remotesOfGlobal(key) });
    this.#accounts = accounts;
    const changes = new ChangeWriter({ accounts, writes, writer, local, gaps });
    this.#reconciler = new ServiceReconciler({
      local,
      keys,
      clusters,
      targets: new Targets({ ...options, local, clusters, keys, states: this.#states }),
      decisions: queue,
      write: (change, context) => changes.write(change, context),
    });
    this.local = local;
    this.clusters = clusters;
    this.#queue = queue;
    this.#keys = keys;
    this.#writer = writer;
    this.#namespace = { writer, local, log };
    const hasGlobals = settings.global !== undefined;
    const asked = () => askedNames(local, { prefixes: prefixesOf(remotes), hasGlobals });
    this.names = shared(() => resolveNames(asked()), { forMs: ASK_DNS_MS });
  }

  /** How many Services of a remote have local objects: mirrors, and parts of global Services. */
  servicesOf(remote: string): number {
    return this.#keys.servicesOf(remote);
  }

  /** The global Services with an order of clusters. */
  get ordered(): readonly OrderedService[] {
    return this.#states.services();
  }

  startLeading(running: RunOptions): void {
    this.enqueueAll(performance.now());
    void warnOfMissingNamespace(this.#namespace, running);
  }

  failed(failure: Parameters<Feature['failed']>[0]): void {
    this.#writes.failed(failure);
  }

  reconcile(key: string, context: KeyContext): Promise<void> {
    return this.#accounts.during(key, context.writes, () => this.#reconciler.reconcile(key, context));
  }

  /** Without the local objects, nothing can be decided. @param since as `ReconcileContext.since` */
  enqueueAll(since?: number): void {
    if (this.local.isSynced()) this.#queue.enqueue(this.clusters.allKeys(), since);
  }

  /** The same, as `LeaderQueue.enqueueAll`. */
  enqueueAllSoon(): void {
    if (this.local.isSynced()) this.#queue.enqueueAll(() => this.clusters.allKeys());
  }

  /** Enqueues all Services of a cluster. */
  enqueueOf(cluster: string): void {
    if (this.local.isSynced()) this.#queue.enqueue(this.clusters.get(cluster)?.keys() ?? []);
  }

  /** Watches the local cluster's Services until `signal` is aborted. To be called once, when the local objects are listed. */
  async run(running: RunOptions): Promise<void> {
    await Promise.all([this.clusters.run(running), this.#states.run(this.#queue, running)]);
  }

  /** Watches a remote until `signal` is aborted. To be called when the local objects are listed. */
  follow(remote: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    return this.clusters.follow(remote, running);
  }

  /** What reconciles would write now for all keys, and what a plan asks about it. */
  async plan(
    running: RunOptions,
  ): Promise<Pick<Plan, 'missingNamespace' | 'changes'> & { readonly writes: readonly PlannedWrite[] }> {
    const noNamespace = await missingNamespace(this.#namespace, running);
    const changes = [...this.clusters.allKeys()].toSorted().flatMap((key) => this.#reconciler.plan(key));
    const writes = noNamespace === undefined ? plannedWrites(changes, this.#writer) : [];
    return { missingNamespace: noNamespace, changes, writes };
  }
}
