import {
  ClusterWatches,
  everyPeriod,
  localServiceRanges,
  LocalWrites,
  POLL_INTERVAL_MS,
  Runner,
} from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller } from '@kube-semaphore/controller';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Cidr } from '@kube-semaphore/net';
import type { Given } from '@kube-semaphore/options';
import type { Health, Instruments, Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from './config/options.ts';
import type { RemoteSettings } from './config/settings.ts';
import { configuredIdentity } from './desired/identity.ts';
import { domainsWith } from './desired/labels.ts';
import { chosenCalicoApi } from './local/calico-api.ts';
import { LocalSets } from './local/sets.ts';
import { changeSender, setWriter, type WriteSet } from './local/writer.ts';
import type { metrics } from './metrics.ts';
import type { Plan } from './plan.ts';
import { SetReconciler } from './reconciler.ts';
import { Remote } from './remote/cluster.ts';

export type PolicyInput = {
  readonly options: PolicyOptions;
  readonly given: Given<PolicyOptions>;
  readonly local: Connection;
  /** Of the local cluster: no remote may bring in an address in them. */
  readonly localCidrs: readonly Cidr[];
  readonly remotes: readonly { readonly settings: RemoteSettings; readonly connection: Connection }[];
  readonly log: Logger;
  readonly metrics: Instruments<typeof metrics>;
  /** Whether we may write, among all replicas; made from the client of the local cluster. */
  readonly leadership: (local: KubeClient) => Leadership;
  /** `name/version`, for the API servers' logs. */
  readonly userAgent: string;
};

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/**
 * The whole app: keeps the local sets of its remote clusters. First it lists the local sets, for they say under which
 * labels to go on; then the remotes' Pods, for which that decides which to watch; then it reconciles, key by key.
 */
export class Policy {
  readonly #input: PolicyInput;
  readonly #domains: readonly string[];
  readonly #leadership: Leadership;
  readonly #controller: Controller;
  readonly #runner: Runner;
  readonly #writes: LocalWrites;
  readonly #localWatches: ClusterWatches;
  readonly #localListed = Promise.withResolvers<void>();
  #localSets: LocalSets | undefined;
  #writeSet: WriteSet | undefined;
  /** Why the API groups couldn't be listed. */
  #undiscovered: unknown;
  #remotes: readonly Remote[] = [];
  #reconciler: SetReconciler | undefined;
  #watchForbidden = false;
  /** A plan chooses as the leader would. */
  #plans = false;

  constructor(input: PolicyInput) {
    const { options, metrics, log, remotes } = input;
    this.#input = input;
    const client = this.#localClient();
    this.#leadership = input.leadership(client);
    this.#domains = domainsWith(configuredIdentity(options).domain);
    this.#writes = new LocalWrites({
      leadership: this.#leadership,
      concurrency: options.writeConcurrency,
      what: 'set',
      remotes: remotes.map(({ settings }) => settings.name),
      objectsOf: (remote) => this.#localSets?.ownSets(remote) ?? 0,
      perSecond: options.maxRemoteWrites,
      metrics,
      log,
    });
    this.#controller = new Controller({
      // A standby decides nothing: its stores are warm, and every key is looked at when it takes over.
      reconcile: async (key, context) =>
        this.#leadership.isLeader ? this.#reconciler!.reconcile(key, context) : { wrote: false },
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      onFailure: (failure) => {
        if (this.#writes.failed(failure)) metrics.requeues.inc({});
      },
    });
    this.#localWatches = new ClusterWatches({
      cluster: LOCAL,
      metrics,
      log,
      onFirstSync: this.#localListed.resolve,
      onWatchForbidden: () => (this.#watchForbidden = true),
    });
    const serviceRanges: Cidr[] = [];
    this.#runner = new Runner({
      local: {
        what: 'the local sets',
        run: (running) => this.#watchLocal(client, running),
        listed: this.#localListed.promise,
        isSynced: () => this.#localSets?.synced === true,
        loops: () => [{ name: 'the local sets', silentMs: this.#localSets?.reflector.silentMs ?? 0 }],
        failure: () => this.#localWatches.failure ?? this.#undiscovered,
      },
      prepare: async (running) => void serviceRanges.push(...(await localServiceRanges(client, { ...running, log }))),
      watch: (running) => Promise.resolve(this.#watchRemotes(running, serviceRanges)),
      remotes: () => this.#remotes,
      watched: 'pods',
      longestReconcileMs: () => this.#controller.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  isLive(): Health {
    return this.#runner.isLive();
  }

  isReady(): Health {
    return this.#runner.isReady();
  }

  /**
   * Works until `signal` is aborted.
   *
   * @throws {ConfigError} when the local sets carry more than one identity, and no flag says which
   */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#controller.run(running),
      this.#leadership.run({
        ...running,
        onStartedLeading: () => {
          this.#settleRemotes();
          this.#enqueueAll(performance.now());
        },
        // Its writes are refused from then on, and the next term begins with a look at everything.
        onStoppedLeading: () => undefined,
      }),
      ...this.#remotes.map((remote) => everyPeriod(remote.resyncPeriodMs, () => this.#enqueue(remote.keys()), running)),
      everyPeriod(this.#input.options.fullStoreResyncPeriodMs, () => this.#compareAll(), running),
    ]);
  }

  /**
   * What `run` would write now, without writing it: the same informers and the same reconcile.
   *
   * @throws {ConfigError} as `run`; Error when the local sets can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    this.#plans = true;
    return this.#runner.once(options, () => {
      const keys = new Set([...this.#localSets!.keys(), ...this.#remotes.flatMap((remote) => remote.keys())]);
      const changes = [...keys].toSorted().flatMap((key) => this.#reconciler!.plan(key).flat());
      return { changes, remotes: this.#remotes.map((remote) => remote.plan()) };
    });
  }

  #localClient(): KubeClient {
    const { local, userAgent, metrics } = this.#input;
    const onRequest = ({ verb, resource, code }: RequestReport): void => {
      if (resource !== 'globalnetworksets' || verb === 'get') return;
      metrics.calicoRequests.inc({ type: verb, success: code.startsWith('2') ? '1' : '0' });
    };
    return new KubeClient({ connection: local, userAgent, onRequest });
  }

  async #watchLocal(client: KubeClient, { signal }: RunOptions): Promise<void> {
    const { options, remotes, log, metrics } = this.#input;
    const api = await chosenCalicoApi(options.calicoApi, client, {
      signal,
      log,
      onFailure: (error) => (this.#undiscovered = error),
    });
    const localSets = new LocalSets({
      client,
      api,
      clusters: new Set(remotes.map(({ settings }) => settings.name)),
      configured: configuredIdentity(options),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#localWatches.hooks(),
      // What somebody did to a set is put right, but it isn't a remote event: `repairs_total` counts it, `propagation_seconds` doesn't.
      onChange: (keys) => {
        this.#settleRemotes();
        this.#enqueue(keys);
      },
      onOrphans: (cluster, count) => metrics.orphans.set({ cluster }, count),
    });
    this.#localSets = localSets;
    this.#writeSet = setWriter({
      send: changeSender(client, api),
      writes: this.#writes,
      localSets,
      domains: this.#domains,
      isWatchForbidden: () => this.#watchForbidden,
    });
    await localSets.reflector.run({ signal });
  }

  #watchRemotes(running: RunOptions, serviceRanges: readonly Cidr[]): readonly Promise<void>[] {
    const { options, given, remotes } = this.#input;
    const localSets = this.#localSets!;
    this.#remotes = remotes.map(
      ({ settings, connection }) =>
        new Remote({
          ...this.#input,
          settings,
          connection,
          serviceRanges,
          mayChoose: () => this.#plans || this.#leadership.isLeader,
          localSets,
          domains: this.#domains,
          onChange: (keys) => this.#enqueue(keys, performance.now()),
          onKnown: () => this.#enqueueAll(performance.now()),
        }),
    );
    this.#reconciler = new SetReconciler({
      remotes: this.#remotes,
      domains: this.#domains,
      maxNetsPerSet: options.maxNetsPerSet,
      hostNetworkPods: given.has('hostNetworkPods') ? options.hostNetworkPods : 'grandfather',
      localSets,
      write: this.#writeSet!,
      onDiagnostics: (key, diagnostics) => {
        for (const remote of this.#remotes) remote.notice(key, diagnostics);
      },
    });
    this.#noticeOlderSets();
    return this.#remotes.map((remote) => remote.run(running));
  }

  #settleRemotes(): void {
    for (const remote of this.#remotes) remote.settle();
  }

  #compareAll(): void {
    this.#localSets!.reflector.relist();
    this.#noticeOlderSets();
    this.#enqueueAll();
  }

  #noticeOlderSets(): void {
    for (const remote of this.#remotes) remote.noticeOlderSets();
  }

  /** Every key that there are Pods or sets for. */
  #enqueueAll(since?: number): void {
    for (const remote of this.#remotes) this.#enqueue(remote.keys(), since);
    this.#enqueue(this.#localSets?.keys() ?? [], since);
  }

  #enqueue(keys: Iterable<string>, since?: number): void {
    // Before any remote is known there is nothing to decide; each enqueues everything once it is.
    if (!this.#remotes.some((remote) => remote.synced)) return;
    for (const key of keys) this.#controller.enqueue(key, since);
  }
}
