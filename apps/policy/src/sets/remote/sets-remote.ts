import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { reportClusterSetId, reportRestriction } from '@kube-semaphore/multicluster';
import type { PolicyOptions } from '../../config/options.ts';
import type { FollowedRemote } from '../../followed-remote.ts';
import type { SetDiagnostic } from '../desired/diagnostic.ts';
import type { HostNetworkPods } from '../desired/host-network.ts';
import { detectIdentity, identityOfDomain } from '../desired/identity.ts';
import { chooseDomain, type DomainChoice } from '../desired/label-domain.ts';
import type { Identity } from '../desired/labels.ts';
import { clusterOfFirstRelease } from '../desired/ownership.ts';
import { compareNames } from '@kube-semaphore/naming';
import type { WantedPair } from '../desired/sets.ts';
import type { LocalSets } from '../local/sets.ts';
import type { PolicyMetrics } from '../../metrics.ts';
import { labelDomains } from '@kube-semaphore/network-policies';
import type { RemotePlan } from '../../plan.ts';
import { firstRelease, NO_LABELLED_POD, noPodMatches, otherDomain } from './diagnostics.ts';
import { RemotePods } from './pods.ts';
import { seedOf } from './seed.ts';

export type SetsRemoteOptions = FollowedRemote & {
  readonly options: PolicyOptions;
  readonly hostNetworkPods: HostNetworkPods;
  /** Listed already, if the cluster has any. */
  readonly localSets: LocalSets;
  /** Whether this replica may choose the label domain by Pods now. */
  readonly mayChoose: () => boolean;
  readonly metrics: PolicyMetrics;
  /** The sets of these keys may have other members now. */
  readonly enqueue: (keys: readonly string[]) => void;
  /** It is known now: the sets of every key may change, and names may be free. */
  readonly enqueueAll: () => void;
};

/** Subjects of diagnostics that aren't about one Pod or one set. */
const WHOLE_CLUSTER = 'cluster';
const OTHER_DOMAIN = 'label domain';
const FIRST_RELEASE = 'sets of v0.1.0';

/** The Pods of a remote that are members of sets, what is skipped of them, and whether they are known. */
export class SetsRemote {
  readonly cluster: string;
  readonly #options: SetsRemoteOptions;
  /** The Pods of each domain that may count; once the domain is chosen, only those of that domain. */
  #watched: readonly RemotePods[];
  #chosen: { readonly identity: Identity; readonly pods: RemotePods } | undefined;
  /** Decides nothing, as it began before the local sets were known: it begins again when they are. */
  readonly #isBlind: boolean;
  #synced = false;
  readonly #firstSync = Promise.withResolvers<void>();
  /** Resolves when its first list is complete. */
  readonly firstSync = this.#firstSync.promise;

  constructor(options: SetsRemoteOptions) {
    const { settings, metrics, addresses, state, localSets } = options;
    const cluster = settings.name;
    this.cluster = cluster;
    this.#options = options;
    this.#isBlind = !localSets.synced;
    reportRestriction({ cluster, allowed: addresses.allowed, metrics, log: state.log });
    const identity = this.#identity();
    this.#watched = this.#podsOf(
      identity.ok && identity.value !== undefined ? [identity.value.domain] : localSets.domains,
    );
    this.settle();
    this.reportFirstRelease();
  }

  /** Whether a first list is complete: of its Pods, or of both domains while none is chosen. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Milliseconds since its most silent watch last did anything. */
  get silentMs(): number {
    return Math.max(...this.#watched.map(({ silentMs }) => silentMs));
  }

  /** Whether its Pods are known well enough to change or delete its sets. */
  isKnown(): boolean {
    return !this.#isBlind && this.#chosen?.pods.synced === true && !this.#isHeldWithoutPods;
  }

  /**
   * Settles under which labels its sets are written, if that is open: by its sets or a flag, else by the labels of its
   * Pods. Only the leader uses Pods; a standby follows the sets that the leader writes, so the two don't differ.
   */
  settle(): void {
    if (this.#chosen !== undefined) return;
    const { options, mayChoose, state } = this.#options;
    const identity = this.#identity();
    if (!identity.ok) {
      // At the start this ends the process, and a changed config is refused; now it would end the service to other remotes.
      const problem = { kind: 'problem', reason: 'two-identities', detail: identity.reason } as const;
      state.skipped.replace(WHOLE_CLUSTER, [problem]);
      return;
    }
    if (identity.value !== undefined) {
      this.#choose(identity.value);
      return;
    }
    const choice = mayChoose() && this.#areAllSynced ? this.#choiceByPods() : undefined;
    if (choice === undefined) return;
    if (choice.overlooked > 0) {
      state.skipped.replace(OTHER_DOMAIN, [otherDomain(choice)]);
      state.log.warn(
        { cluster: this.cluster, ...choice },
        'pods skipped that have only the name label of another domain',
      );
    }
    this.#choose(identityOfDomain(choice.domain, options));
  }

  /** Its pairs of a key that have members. */
  pairs(key: string): readonly WantedPair[] {
    if (this.#chosen === undefined) return [];
    const { identity, pods } = this.#chosen;
    return pods.index.pairs(key).map((pair) => ({ ...pair, identity }));
  }

  /** All keys that it has members for. */
  keys(): readonly string[] {
    return this.#chosen?.pods.index.keys() ?? [];
  }

  /** How many of its objects there are, by what they are. */
  objects() {
    const { localSets } = this.#options;
    const pods = this.#watched.reduce((sum, { store: { size, held } }) => sum + size - held, 0);
    return { pods, sets: localSets.ownSets(this.cluster) };
  }

  plan(): RemotePlan {
    const { localSets } = this.#options;
    const sets = localSets.ofCluster(this.cluster);
    return {
      cluster: this.cluster,
      reached: this.#synced,
      failure: this.#synced ? undefined : this.#options.state.watches.failure,
      heldBack: this.#isHeldWithoutPods ? noPodMatches(sets.length).detail : undefined,
      heldDeletions: this.#held ?? 0,
      skipped: this.#options.state.skipped.all(),
      sets: sets.map(({ name }) => name).toSorted(),
      companions: 0,
    };
  }

  /** Replaces the diagnostics about its sets of a key. */
  report(key: string, diagnostics: readonly SetDiagnostic[]): void {
    this.#options.state.skipped.replace(`set ${key}`, diagnostics);
  }

  /** Replaces the diagnostics about its sets of v0.1.0. */
  reportFirstRelease(): void {
    const sets = this.#options.localSets.all().filter(({ labels }) => clusterOfFirstRelease(labels) === this.cluster);
    this.#options.state.skipped.replace(FIRST_RELEASE, sets.toSorted(compareNames).map(firstRelease));
  }

  /** Watches until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    const { client, options, state, settings, metrics } = this.#options;
    const loops = this.#watched.map((pods) => pods.run({ signal }));
    if (options.clusterSetLabel || options.networkPolicies) {
      const { clusterSetId: id } = settings;
      const { clusterIdDiffers: metric } = metrics;
      loops.push(reportClusterSetId({ client, remote: this, id, log: state.log, metric }, { signal }));
    }
    await Promise.all(loops);
  }

  /** How many deletions are held; undefined before its Pods are known. */
  get #held(): number | undefined {
    return this.#chosen?.pods.synced === true ? this.#chosen.pods.store.held : undefined;
  }

  get #areAllSynced(): boolean {
    return this.#watched.every(({ synced }) => synced);
  }

  /**
   * Whether all deletions are held: there are sets, but no Pod matches, and none ever did. An empty cluster looks like this;
   * so do a wrong `-label-domain`, a kubeconfig of another cluster, and a restored etcd. Only in an empty cluster would it be
   * right to delete every address.
   */
  get #isHeldWithoutPods(): boolean {
    return this.#chosen?.pods.podsSeen !== true && this.#options.localSets.ownSets(this.cluster) > 0;
  }

  #choiceByPods(): DomainChoice | undefined {
    return chooseDomain(new Map(this.#watched.map(({ domain, candidates }) => [domain, candidates])));
  }

  #identity() {
    const { localSets, options } = this.#options;
    return detectIdentity(localSets.all(), this.cluster, options);
  }

  #choose(found: Identity): void {
    const { state, localSets, options } = this.#options;
    const identity = { ...found, clusterSet: options.clusterSetLabel };
    // Each domain that sets or Pods can have is watched.
    const pods = this.#watched.find(({ domain }) => domain === identity.domain)!;
    this.#chosen = { identity, pods };
    state.log.info({ cluster: this.cluster, ...identity, sets: localSets.ownSets(this.cluster) }, 'local sets listed');
    state.skipped.replace(WHOLE_CLUSTER, []);
    for (const other of this.#watched) if (other !== pods) other.end();
    this.#watched = [pods];
    pods.begin();
    if (pods.synced) this.#listed(pods);
  }

  #podsOf(domains: readonly string[]): readonly RemotePods[] {
    const { options, state, localSets, metrics, enqueue } = this.#options;
    const hooks = this.#hooks();
    const seed =
      options.deletionGuardPercent === 100 ? new Map() : seedOf(localSets.ofCluster(this.cluster), localSets.domains);
    return domains.map(
      (domain) =>
        new RemotePods({
          ...this.#options,
          domain,
          seed,
          hooks,
          skipped: state.skipped,
          hasSet: (key) => localSets.ofKey(key).some(({ cluster }) => cluster === this.cluster),
          onCandidate: () => this.settle(),
          onFirstPod: () => {
            state.skipped.replace(WHOLE_CLUSTER, []);
            this.#enqueueAll();
          },
          onChange: (keys) => {
            state.setHeld(this.#held);
            const isOverSets = this.#chosen?.pods.index.isOver === true;
            metrics.remoteOverBudget.set({ remote: this.cluster, budget: 'sets' }, isOverSets ? 1 : 0);
            enqueue(keys);
          },
        }),
    );
  }

  /** For the watches of all domains, as one. */
  #hooks(): ReflectorHooks {
    const hooks = this.#options.state.watches.hooks();
    return {
      ...hooks,
      onRestart: (restart) => {
        if (restart.error !== undefined) this.#options.metrics.podWatcherFailures.inc({ type: restart.verb });
        hooks.onRestart?.(restart);
      },
      onSynced: () => {
        if (!this.#areAllSynced) return;
        hooks.onSynced?.();
        if (this.#chosen === undefined) this.#candidatesListed();
        else this.#listed(this.#chosen.pods);
      },
    };
  }

  /** The Pods of each domain are listed, and no domain is chosen yet. */
  #candidatesListed(): void {
    this.settle();
    if (this.#chosen !== undefined) return;
    const { state } = this.#options;
    if (this.#choiceByPods() === undefined) state.skipped.replace(WHOLE_CLUSTER, [NO_LABELLED_POD]);
    if (!this.#synced)
      state.log.info({ cluster: this.cluster, pods: 0, domains: labelDomains }, 'no label domain chosen yet');
    this.#setSynced();
  }

  #listed({ store: { held, size } }: RemotePods): void {
    const { localSets, state } = this.#options;
    if (this.#isHeldWithoutPods) state.skipped.replace(WHOLE_CLUSTER, [noPodMatches(localSets.ownSets(this.cluster))]);
    state.listed('remote pods listed', { pods: size - held }, held);
    state.setHeld(held);
    this.#setSynced();
    this.#enqueueAll();
  }

  /** Its own keys at once. */
  #enqueueAll(): void {
    const { enqueue, enqueueAll } = this.#options;
    enqueue(this.keys());
    enqueueAll();
  }

  #setSynced(): void {
    this.#synced = true;
    this.#firstSync.resolve();
  }
}
