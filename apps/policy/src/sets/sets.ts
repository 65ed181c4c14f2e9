import type { AddOptions } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  type AppStatus,
  Diagnosed,
  everyPeriod,
  familyNames,
  type Feature,
  type KeyContext,
  type Leader,
  type LeaderQueue,
  refusalOf,
  type Remotes,
  type Unwritten,
} from '@kube-semaphore/multicluster';
import { ConfigError } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import type { FollowedRemote } from '../followed-remote.ts';
import { carryOut, ownersOf } from '../local/carry-out.ts';
import type { PolicyMetrics } from '../metrics.ts';
import type { RemotePlan } from '../plan.ts';
import type { Change, Phase } from './desired/change.ts';
import { objectOf } from './desired/change-facts.ts';
import type { SetDiagnostic } from './desired/diagnostic.ts';
import { diffSets } from './desired/diff.ts';
import type { HostNetworkPods } from './desired/host-network.ts';
import { detectIdentity } from './desired/identity.ts';
import { desiredSets, type WantedPair } from './desired/sets.ts';
import { independentOf } from './desired/write-phases.ts';
import type { WatchedSets } from './local/watched-sets.ts';
import { SetsRemote } from './remote/sets-remote.ts';

export type SetsOptions = {
  readonly local: WatchedSets;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly options: PolicyOptions;
  readonly hostNetworkPods: HostNetworkPods;
  /** Whether this replica may choose label domains by Pods now. */
  readonly mayChoose: () => boolean;
  readonly leader: Pick<Leader, 'queue'>;
  readonly metrics: PolicyMetrics;
};

/**
 * Makes the sets of a key match the remotes' Pods. A remote that isn't known, or isn't followed, decides nothing: its sets stay
 * as they are, and their names are taken.
 */
export class Sets implements Feature {
  readonly #options: SetsOptions;
  readonly #queue: LeaderQueue;
  readonly #followed = new Map<string, SetsRemote>();
  readonly #diagnosed = new Diagnosed();
  /** Whether a remote is known, or was. */
  #isAnyKnown = false;

  constructor(options: SetsOptions) {
    this.#options = options;
    this.#queue = options.leader.queue(this);
  }

  /** The remotes that are followed, in the order of the config. */
  get followed(): readonly SetsRemote[] {
    return this.#options.remotes.all.flatMap(({ settings }) => this.#followed.get(settings.name) ?? []);
  }

  /** @throws {ConfigError} if the local sets of a remote have more than one identity, and no flag chooses one */
  check(remotes: readonly Pick<RemoteSettings, 'name'>[]): void {
    const { local, options } = this.#options;
    const sets = local.sets.all();
    const problems = remotes.flatMap(({ name }) => {
      const identity = detectIdentity(sets, name, options);
      return identity.ok ? [] : [identity.reason];
    });
    if (problems.length > 0) throw new ConfigError(problems);
  }

  /** Keeps the sets of a remote until `signal` is aborted. They stay. The local sets are listed. */
  async follow(remote: FollowedRemote, running: RunOptions): Promise<void> {
    const { name, podResyncPeriodMs } = remote.settings;
    const followed = new SetsRemote({
      ...this.#options,
      ...remote,
      localSets: this.#options.local.sets,
      enqueue: (keys) => {
        this.#isAnyKnown ||= this.#followed.get(name)?.synced === true;
        this.enqueue(keys, performance.now(), { cause: name });
      },
      enqueueAll: () => this.#queue.enqueueAll(() => this.keys(), performance.now()),
    });
    this.#followed.set(name, followed);
    await Promise.all([
      followed.run(running),
      everyPeriod(podResyncPeriodMs, () => this.enqueue(followed.keys()), running),
    ]);
    this.#followed.delete(name);
  }

  /** What `/status` says of each remote, also before it is followed. */
  status(): AppStatus['remotes'] {
    return this.#options.remotes.all.map(({ settings, state }) => {
      const { name, clusterSetId: clusterSetID, labels, families, allowedPodCidrs } = settings;
      const followed = this.#followed.get(name);
      const config = {
        clusterSetID,
        labels,
        families: familyNames(families),
        allowedPodCIDRs: allowedPodCidrs?.map(({ text }) => text) ?? null,
      };
      return { ...state.status(followed?.synced === true ? followed.objects() : null), config };
    });
  }

  /** Chooses the labels of the sets of each remote, where that is still open. */
  settle(): void {
    for (const remote of this.#followed.values()) remote.settle();
  }

  /** Replaces what is known about sets of v0.1.0. */
  reportFirstRelease(): void {
    for (const remote of this.#followed.values()) remote.reportFirstRelease();
  }

  /** While no remote is known, there is nothing to decide. A remote that becomes known enqueues every key. */
  enqueue(keys: Iterable<string>, since?: number, options?: AddOptions): void {
    if (this.#isAnyKnown) this.#queue.enqueue(keys, since, options);
  }

  startLeading(): void {
    this.settle();
    this.enqueue(this.keys(), performance.now());
  }

  failed(failure: Parameters<Feature['failed']>[0]): void {
    this.#options.local.failed(failure);
  }

  async reconcile(key: string, { writes, since }: KeyContext): Promise<void> {
    const { local } = this.#options;
    const { phases, diagnostics } = this.#plan(key);
    await carryOut(phases, {
      clustersOf: (change) => ownersOf(change, local.sets.domains).map(({ cluster }) => cluster),
      isIndependent: independentOf(phases, local.sets.domains),
      write: (change) => writes.write({ object: objectOf(change), change, send: () => local.write(change, { since }) }),
    });
    this.#report(key, [...diagnostics, ...writes.unwritten.flatMap((each) => this.#refused(each))]);
  }

  /** Every key that has Pods or sets, sorted. */
  keys(): readonly string[] {
    const ofPods = this.followed.flatMap((remote) => remote.keys());
    return [...new Set([...ofPods, ...this.#options.local.sets.keys()])].toSorted();
  }

  /** What reconciles of all keys would write now. */
  changes(): readonly Change[] {
    return this.keys().flatMap((key) => {
      const { phases, diagnostics } = this.#plan(key);
      this.#report(key, diagnostics);
      return phases.flat();
    });
  }

  /** What the plan says about each remote. */
  plans(): readonly RemotePlan[] {
    return this.followed.map((remote) => remote.plan());
  }

  /** Replaces what is known about the sets of a key. */
  #report(key: string, diagnostics: readonly SetDiagnostic[]): void {
    const ofCluster = Map.groupBy(diagnostics, ({ cluster }) => cluster);
    for (const [cluster, own] of this.#diagnosed.replacing(key, ofCluster))
      this.#followed.get(cluster)?.report(key, own);
  }

  /** What a refusal of the API server says about the clusters of a set. */
  #refused({ change, error }: Unwritten): readonly SetDiagnostic[] {
    const refusal = refusalOf(error);
    if (refusal === undefined) return [];
    const { domains } = this.#options.local.sets;
    return ownersOf(change as Change, domains).map(({ cluster, pair }) => ({
      ...refusal,
      cluster,
      namespace: pair?.namespace ?? '',
      name: pair?.app ?? '',
    }));
  }

  #plan(key: string): { readonly phases: readonly Phase[]; readonly diagnostics: readonly SetDiagnostic[] } {
    const { local, options, hostNetworkPods } = this.#options;
    const { sets } = local;
    if (!sets.synced) return { phases: [], diagnostics: [] };
    // Whether its Pods are known well enough to change or delete its sets.
    const isKnown = (cluster: string): boolean => this.#followed.get(cluster)?.isKnown() === true;
    const existing = sets.ofKey(key);
    const observed = existing.filter(({ cluster }) => isKnown(cluster)).map(({ set }) => set);
    const unknown = new Set(existing.filter(({ cluster }) => !isKnown(cluster)).map(({ set }) => set.name));
    const desired = desiredSets({
      domains: sets.domains,
      pairs: this.#pairs(key),
      observed,
      isTaken: (name) => unknown.has(name) || sets.isTaken(name),
      maxNetsPerSet: options.maxNetsPerSet,
      hostNetworkPods,
    });
    return { phases: diffSets(observed, desired.sets, sets.domains), diagnostics: desired.diagnostics };
  }

  /** Of the remotes whose Pods are known. */
  #pairs(key: string): readonly WantedPair[] {
    const pairs: WantedPair[] = [];
    // A loop, as each reconcile asks, and most of hundreds of remotes have none.
    for (const remote of this.#followed.values()) if (remote.isKnown()) pairs.push(...remote.pairs(key));
    return pairs;
  }
}
