import { setMaxListeners } from 'node:events';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { Controller, Limiter, type ReconcileContext } from '@kube-semaphore/controller';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import type { CalicoApi } from '@kube-semaphore/kube-objects';
import type { Given } from '@kube-semaphore/options';
import type { Health, Instruments, Logger } from '@kube-semaphore/runtime';
import { configuredIdentity, detectIdentity } from './adoption.ts';
import { discoverCalicoApi } from './calico-api.ts';
import type { Change } from './change.ts';
import { clusterHooks } from './cluster-hooks.ts';
import { ConfigError } from './config-error.ts';
import { liveness, readiness } from './health.ts';
import { isHeldForWantOfPods } from './hold.ts';
import { LocalSets } from './local-sets.ts';
import type { metrics } from './metrics.ts';
import type { PolicyOptions } from './options.ts';
import { everyPeriod } from './periodic.ts';
import { RemotePods } from './remote-pods.ts';
import type { Identity } from './set-labels.ts';
import { SetReconciler } from './set-reconciler.ts';
import { setWriter, type WriteSet, type Written } from './set-writer.ts';
import { type Left, SkipRegister } from './skip-register.ts';
import { WriteLog } from './write-log.ts';

export type PolicyInput = {
  readonly options: PolicyOptions;
  readonly given: Given<PolicyOptions>;
  readonly local: Connection;
  readonly remote: Connection;
  readonly log: Logger;
  readonly metrics: Instruments<typeof metrics>;
  /** `name/version`, for the API servers' logs. */
  readonly userAgent: string;
};

/** The local cluster's name in metrics and logs, where remotes have their own. */
const LOCAL = 'local';

/** How often to list where a role has no `watch`, as that of the Go program hasn't. */
const POLL_INTERVAL_MS = 30_000;

/**
 * The whole app: keeps the local sets of one remote cluster. First it lists the local sets, for they say under which
 * labels to go on; then the remote's Pods, for which that decides which to watch; then it reconciles, key by key.
 */
export class Policy {
  readonly #input: PolicyInput;
  readonly #controller: Controller;
  readonly #writeLog: WriteLog;
  readonly #skips: SkipRegister;
  readonly #limiter: Limiter;
  #watchForbidden = false;
  #localSets: LocalSets | undefined;
  #remotePods: RemotePods | undefined;
  #reconciler: SetReconciler | undefined;
  #watchingSince: number | undefined;

  constructor(input: PolicyInput) {
    const { options, metrics, log } = input;
    this.#input = input;
    const remote = options.targetClusterName;
    this.#writeLog = new WriteLog({ log, onTrouble: (inTrouble) => metrics.remoteUp.set({ remote: LOCAL }, inTrouble ? 0 : 1) });
    this.#skips = new SkipRegister({
      onCount: (labels, count) => metrics.skippedObjects.set({ remote, ...labels }, count),
      onNew: (subject, left) => logLeft(log, subject, left),
    });
    this.#limiter = new Limiter(options.writeConcurrency);
    this.#controller = new Controller({
      reconcile: async (key, context) => (await this.#reconciler?.reconcile(key, context)) ?? { wrote: false },
      workers: options.writeConcurrency,
      minWriteIntervalMs: options.minWriteIntervalMs,
      onFailure: (failure) => {
        metrics.requeues.inc({});
        this.#writeLog.failed(failure);
      },
    });
  }

  /** Whether the loops turn. */
  isLive(): Health {
    const loops = [
      { name: 'local sets', silentMs: this.#localSets?.reflector.silentMs ?? 0 },
      { name: 'remote pods', silentMs: this.#remotePods?.reflector.silentMs ?? 0 },
    ];
    return liveness({ loops, longestReconcileMs: this.#controller.longestRunningMs, idleTimeoutMs: this.#input.options.watchIdleTimeoutMs });
  }

  /** Whether the local side stands, and the remote has synced or had its time. */
  isReady(): Health {
    return readiness({
      localSynced: this.#localSets?.synced === true,
      remotes: [{ name: this.#input.options.targetClusterName, synced: this.#remotePods?.synced === true }],
      watchedMs: this.#watchingSince === undefined ? undefined : performance.now() - this.#watchingSince,
    });
  }

  /**
   * Works until `signal` is aborted.
   *
   * @throws {ConfigError} when the local sets carry more than one identity, and no flag says which
   */
  async run({ signal: stopped }: RunOptions): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([stopped, failed.signal]);
    // Every request listens to it for as long as it runs.
    setMaxListeners(0, signal);
    const loops: Promise<void>[] = [];
    try {
      const localClient = this.#localClient();
      const api = await this.#calicoApi(localClient, signal);
      const localSets = await this.#openLocalSets(localClient, { api, loops, signal });
      const identity = this.#identity(localSets);
      const remotePods = this.#openRemotePods(identity);
      this.#reconciler = this.#newReconciler({ identity, localSets, remotePods, write: setWriter(localClient, api) });
      this.#watchingSince = performance.now();
      loops.push(remotePods.reflector.run({ signal }), this.#controller.run({ signal }), ...this.#resyncs(localSets, remotePods, signal));
      await Promise.all(loops);
    } finally {
      failed.abort();
      await Promise.all(loops);
    }
  }

  #localClient(): KubeClient {
    const { local, userAgent, metrics } = this.#input;
    const onRequest = ({ verb, resource, code }: RequestReport): void => {
      if (resource !== 'globalnetworksets') return;
      metrics.calicoRequests.inc({ type: verb, success: code.startsWith('2') ? '1' : '0' });
    };
    return new KubeClient({ connection: local, userAgent, onRequest });
  }

  async #calicoApi(client: KubeClient, signal: AbortSignal): Promise<CalicoApi> {
    const { options, log } = this.#input;
    if (options.calicoApi !== 'auto') return options.calicoApi;
    let said = false;
    const api = await discoverCalicoApi(client, {
      signal,
      onFailure: (error) => {
        log[said ? 'debug' : 'warn']({ cluster: LOCAL, error }, 'API groups not listed, will try again');
        said = true;
      },
    });
    log.info({ api }, 'Calico API chosen');
    return api;
  }

  /** @returns once they have been listed */
  async #openLocalSets(
    client: KubeClient,
    { api, loops, signal }: { api: CalicoApi; loops: Promise<void>[]; signal: AbortSignal },
  ): Promise<LocalSets> {
    const { options, log, metrics } = this.#input;
    const { promise: firstSync, resolve } = Promise.withResolvers<void>();
    const localSets = new LocalSets({
      client,
      api,
      cluster: options.targetClusterName,
      configured: configuredIdentity(options),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: clusterHooks({ cluster: LOCAL, metrics, log, onFirstSync: resolve, onWatchForbidden: () => (this.#watchForbidden = true) }),
      // What somebody did to a set is put right, but it isn't a remote event: `propagation_seconds` doesn't count it.
      onChange: (keys) => this.#enqueue(keys, Infinity),
      onOrphans: (cluster, count) => metrics.orphans.set({ cluster }, count),
    });
    this.#localSets = localSets;
    const loop = localSets.reflector.run({ signal });
    loops.push(loop);
    await Promise.race([firstSync, loop]);
    signal.throwIfAborted();
    return localSets;
  }

  #identity(localSets: LocalSets): Identity {
    const { options, log } = this.#input;
    const identity = detectIdentity(localSets.labels(), options.targetClusterName, options);
    if (!identity.ok) throw new ConfigError(identity.reason);
    log.info({ ...identity.value, sets: localSets.ownSets }, 'local sets listed');
    return identity.value;
  }

  #openRemotePods({ domain }: Identity): RemotePods {
    const { options, given, remote, userAgent, metrics, log } = this.#input;
    const cluster = options.targetClusterName;
    const hooks = clusterHooks({ cluster, metrics, log, onFirstSync: () => this.#onRemoteSynced() });
    const remotePods = new RemotePods({
      client: new KubeClient({ connection: remote, userAgent, encoding: options.encoding }),
      cluster,
      domain,
      hostNetwork: options.hostNetworkPods === 'include' || !given.has('hostNetworkPods'),
      isAllowed: () => true,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: {
        ...hooks,
        onRestart: (restart) => {
          if (restart.error !== undefined) metrics.podWatcherFailures.inc({ type: restart.verb });
          hooks.onRestart?.(restart);
        },
      },
      onFirstPod: () => {
        this.#skips.replace(WHOLE_CLUSTER, []);
        this.#enqueueAll();
      },
      onChange: (keys) => this.#enqueue(keys, performance.now()),
      onSkipped: (pod, skipped) => this.#skips.replace(`pod ${pod}`, skipped),
    });
    this.#remotePods = remotePods;
    return remotePods;
  }

  #newReconciler(parts: { identity: Identity; localSets: LocalSets; remotePods: RemotePods; write: WriteSet }): SetReconciler {
    const { options, given } = this.#input;
    const { localSets, write } = parts;
    return new SetReconciler({
      ...parts,
      cluster: options.targetClusterName,
      maxNetsPerSet: options.maxNetsPerSet,
      hostNetworkPods: given.has('hostNetworkPods') ? options.hostNetworkPods : 'grandfather',
      write: (change, context) => this.#limiter.run(() => this.#write(change, context, { write, localSets })),
      onNotices: (key, notices) => this.#skips.replace(`set ${key}`, notices),
    });
  }

  async #write(
    change: Change,
    { signal, since }: ReconcileContext,
    { write, localSets }: { write: WriteSet; localSets: LocalSets },
  ): Promise<Written> {
    const { options, metrics } = this.#input;
    try {
      const written = await write(change, { signal });
      this.#writeLog.written(change);
      if (since !== Infinity) metrics.propagation.observe({ remote: options.targetClusterName }, (performance.now() - since) / 1000);
      return written;
    } catch (error) {
      // Somebody wrote in between. A watch tells us what; where there is none, only a list does.
      if (isStale(error) && this.#watchForbidden) localSets.reflector.relist();
      throw error;
    }
  }

  #resyncs(localSets: LocalSets, remotePods: RemotePods, signal: AbortSignal): Promise<void>[] {
    const { podResyncPeriodMs, fullStoreResyncPeriodMs } = this.#input.options;
    const replay = (): void => this.#enqueue(remotePods.keys(), Infinity);
    const compare = (): void => {
      localSets.reflector.relist();
      this.#enqueueAll();
    };
    return [everyPeriod(podResyncPeriodMs, replay, { signal }), everyPeriod(fullStoreResyncPeriodMs, compare, { signal })];
  }

  #onRemoteSynced(): void {
    const { log, options } = this.#input;
    const sighting = { podsSeen: this.#remotePods?.podsSeen === true, ownSets: this.#localSets?.ownSets ?? 0 };
    log.info({ cluster: options.targetClusterName, pods: this.#remotePods?.size ?? 0 }, 'remote pods listed');
    if (isHeldForWantOfPods(sighting)) this.#skips.replace(WHOLE_CLUSTER, [noPodMatches(sighting.ownSets)]);
    this.#enqueueAll();
  }

  /** Every key that there are Pods or sets for, at the start as events of now. */
  #enqueueAll(since = performance.now()): void {
    this.#enqueue(this.#remotePods?.keys() ?? [], since);
    this.#enqueue(this.#localSets?.keys() ?? [], since);
  }

  #enqueue(keys: Iterable<string>, since: number): void {
    // Before both sides are known there is nothing to decide, and then everything is enqueued.
    if (this.#remotePods?.synced !== true || this.#localSets?.synced !== true) return;
    for (const key of keys) this.#controller.enqueue(key, since);
  }
}

/** What the register calls the remote as a whole. */
const WHOLE_CLUSTER = 'cluster';

function noPodMatches(ownSets: number): Left {
  const detail = `there are ${ownSets} sets and no Pod matches: nothing is deleted before one does. Is -label-domain right, and the cluster?`;
  return { kind: 'problem', reason: 'no-pod-matches', detail };
}

const isStale = (error: unknown): boolean => [404, 409].includes((error as { status?: number }).status ?? 0);

function logLeft(log: Logger, subject: string, { kind, reason, detail }: Left): void {
  log[kind === 'problem' ? 'warn' : 'debug']({ subject, reason, detail }, 'left out');
}
