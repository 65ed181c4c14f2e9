import {
  ClusterWatches,
  type Left,
  limitedLog,
  POLL_INTERVAL_MS,
  remoteBudget,
  reportRestriction,
  SkipRegister,
} from '@kube-semaphore/app';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import type { Cidr } from '@kube-semaphore/net';
import type { Given } from '@kube-semaphore/options';
import type { Instruments, Logger } from '@kube-semaphore/runtime';
import { compareClusterSetId } from './cluster-set-id.ts';
import { ghostsOf } from './ghosts.ts';
import { isHeldForWantOfPods } from './hold.ts';
import type { LocalSets } from './local-sets.ts';
import type { PairMembers } from './member-index.ts';
import type { metrics } from './metrics.ts';
import type { Notice } from './notice.ts';
import type { PolicyOptions } from './options.ts';
import type { RemotePlan } from './plan.ts';
import { RemotePods } from './remote-pods.ts';
import type { Identity } from './set-labels.ts';
import type { KnownRemote } from './set-reconciler.ts';
import type { RemoteSettings } from './settings.ts';

export type RemoteOptions = {
  readonly settings: RemoteSettings;
  /** Of the local cluster: it may bring in no address in them. */
  readonly localCidrs: readonly Cidr[];
  readonly connection: Connection;
  readonly userAgent: string;
  /** Under which labels its sets are written. */
  readonly identity: Identity;
  readonly domains: readonly string[];
  readonly options: PolicyOptions;
  readonly given: Given<PolicyOptions>;
  /** Listed already. */
  readonly localSets: LocalSets;
  readonly log: Logger;
  readonly metrics: Instruments<typeof metrics>;
  /** Remote events for these keys happened now. */
  readonly onChange: (keys: readonly string[]) => void;
  /** What is known of the remote changed so that all of its keys must be looked at. */
  readonly onKnown: () => void;
};

/** What the register calls the remote as a whole. */
const WHOLE_CLUSTER = 'cluster';

/** That of a notice about sets that aren't ours. */
const OLDER_SETS = 'sets of v0.1.0';

/** One remote cluster: its Pods, what is left out of them, and whether they are known. */
export class Remote implements KnownRemote {
  readonly cluster: string;
  readonly identity: Identity;
  readonly #options: RemoteOptions;
  readonly #skips: SkipRegister;
  readonly #client: KubeClient;
  readonly #pods: RemotePods;
  readonly #firstSync = Promise.withResolvers<void>();

  constructor(remote: RemoteOptions) {
    const { settings, options, given, localSets, domains, identity, metrics } = remote;
    const cluster = settings.name;
    const log = limitedLog(remote.log, { cluster });
    this.#options = { ...remote, log };
    this.cluster = cluster;
    this.identity = identity;
    this.#skips = new SkipRegister({
      onCount: (labels, count) => metrics.skippedObjects.set({ remote: cluster, ...labels }, count),
      onNew: (subject, left) => logLeft(log, { cluster, subject }, left),
    });
    reportRestriction({ cluster, allowed: settings.allowedPodCidrs, metrics, log });
    const client = new KubeClient({ connection: remote.connection, userAgent: remote.userAgent, encoding: options.encoding });
    this.#client = client;
    const hooks = new ClusterWatches({ cluster, metrics, log, onFirstSync: () => this.#firstSync.resolve() }).hooks();
    this.#pods = new RemotePods({
      client,
      cluster,
      domain: identity.domain,
      hostNetwork: options.hostNetworkPods === 'include' || !given.has('hostNetworkPods'),
      addresses: { allowed: settings.allowedPodCidrs, local: remote.localCidrs },
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      budget: remoteBudget(options),
      sets: {
        limit: options.maxRemoteSets,
        isHere: (key) => localSets.ofKey(key).some((set) => set.cluster === cluster),
        onLeftOut: (pair, isLeftOut) => this.#skips.replace(`set of ${pair}`, isLeftOut ? [tooManySets(options.maxRemoteSets)] : []),
      },
      guard: { percent: options.deletionGuardPercent, min: options.deletionGuardMin },
      holdMs: options.deletionGuardHoldMs,
      ghosts: options.deletionGuardPercent === 100 ? new Map() : ghostsOf(localSets.own(), cluster, domains),
      hooks: {
        ...hooks,
        onSynced: () => {
          hooks.onSynced?.();
          this.#listed();
        },
        onRestart: (restart) => {
          if (restart.error !== undefined) metrics.podWatcherFailures.inc({ type: restart.verb });
          hooks.onRestart?.(restart);
        },
      },
      onFirstPod: () => {
        this.#skips.replace(WHOLE_CLUSTER, []);
        remote.onKnown();
      },
      onChange: (keys) => {
        this.#countHeld();
        metrics.remoteOverBudget.set({ remote: cluster, budget: 'sets' }, this.#pods.isOverSets ? 1 : 0);
        remote.onChange(keys);
      },
      onSkipped: (pod, skipped) => this.#skips.replace(`pod ${pod}`, skipped),
    });
  }

  get synced(): boolean {
    return this.#pods.synced;
  }

  /** Resolves when its first list is complete. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** How often to look at all of its keys again; 0 is never. */
  get resyncPeriodMs(): number {
    return this.#options.settings.podResyncPeriodMs;
  }

  /** Milliseconds since its watch last stirred. */
  get silentMs(): number {
    return this.#pods.silentMs;
  }

  isKnown(): boolean {
    return this.#pods.synced && !isHeldForWantOfPods(this.#sighting());
  }

  pairs(key: string): readonly PairMembers[] {
    return this.#pods.pairs(key);
  }

  keys(): readonly string[] {
    return this.#pods.keys();
  }

  /** What there is to say about it in a plan. */
  plan(): RemotePlan {
    const sighting = this.#sighting();
    return {
      cluster: this.cluster,
      reached: this.#pods.synced,
      heldBack: isHeldForWantOfPods(sighting) ? noPodMatches(sighting.ownSets).detail : undefined,
      heldDeletions: this.#pods.synced ? this.#pods.held : 0,
      skipped: this.#skips.all(),
      sets: this.#options.localSets.own().filter(({ cluster }) => cluster === this.cluster).map(({ set }) => set.name).toSorted(),
    };
  }

  /** What is worth knowing about its sets of a key from now on. */
  notice(key: string, notices: readonly Notice[]): void {
    this.#skips.replace(`set ${key}`, notices.filter(({ cluster }) => cluster === this.cluster));
  }

  /** Looks which sets v0.1.0 left: they are told, and stay as they are. */
  noticeOlderSets(): void {
    this.#skips.replace(OLDER_SETS, this.#options.localSets.ofFirstRelease(this.cluster).map(olderSet));
  }

  /** Watches until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all([this.#pods.run({ signal }), this.#compareIdOnce(signal)]);
  }

  /** A wrong id would let policies of others select the wrong cluster; it is said, and nothing else happens. */
  async #compareIdOnce(signal: AbortSignal): Promise<void> {
    if (this.identity.clusterSet !== true) return;
    await Promise.race([this.firstSync, aborted(signal)]);
    if (signal.aborted) return;
    const { log } = this.#options;
    const answer = await compareClusterSetId(this.#client, this.cluster, { signal });
    if (answer.kind === 'different') log.warn({ cluster: this.cluster, id: answer.id }, 'the remote calls itself something else in its ClusterSet');
    if (answer.kind === 'unknown') log.debug({ cluster: this.cluster, error: answer.error }, 'the remote does not tell its id in a ClusterSet');
  }

  #listed(): void {
    const { log, options, onKnown } = this.#options;
    const sighting = this.#sighting();
    if (isHeldForWantOfPods(sighting)) this.#skips.replace(WHOLE_CLUSTER, [noPodMatches(sighting.ownSets)]);
    const { held, size } = this.#pods;
    log.info({ cluster: this.cluster, pods: size - held }, 'remote pods listed');
    if (held > 0) log.warn({ cluster: this.cluster, held, holdMs: options.deletionGuardHoldMs }, 'a list lacks too much to be believed at once');
    this.#countHeld();
    onKnown();
  }

  #countHeld(): void {
    // Before the first list is complete, what is held is only what it is to be measured by.
    if (this.#pods.synced) this.#options.metrics.heldDeletions.set({ remote: this.cluster }, this.#pods.held);
  }

  #sighting() {
    return { podsSeen: this.#pods.podsSeen, ownSets: this.#options.localSets.ownSets(this.cluster) };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

function noPodMatches(ownSets: number): Left {
  const detail = `there are ${ownSets} sets and no Pod matches: nothing is deleted before one does. Is -label-domain right, and the cluster?`;
  return { kind: 'problem', reason: 'no-pod-matches', detail };
}

const tooManySets = (limit: number): Left => ({ kind: 'problem', reason: 'over-budget', detail: `the remote has its ${limit} sets (-max-remote-sets), and gets no other` });

const olderSet = (name: string): Left => ({ kind: 'problem', reason: 'first-release', detail: `${name} has labels that are not ours, and stays as it is` });

function logLeft(log: Logger, about: { cluster: string; subject: string }, { kind, reason, detail }: Left): void {
  log[kind === 'problem' ? 'warn' : 'debug']({ ...about, reason, detail }, 'left out');
}
