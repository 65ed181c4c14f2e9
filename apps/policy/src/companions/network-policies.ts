import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  Diagnosed,
  type Feature,
  type KeyContext,
  type Leader,
  type LeaderQueue,
  refusalOf,
  type Remotes,
  type Unwritten,
} from '@kube-semaphore/multicluster';
import type { PolicyOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import type { FollowedRemote } from '../followed-remote.ts';
import {
  type CompanionChange,
  companionChanges,
  type CompanionDiagnostic,
  type CompanionPhase,
  independentOf,
  isReplaced,
  nameOf,
  networkPolicySink,
  type ObservedCompanion,
  remoteOf,
  type Sink,
  type Source,
  withoutSource,
} from '@kube-semaphore/network-policies';
import { carryOut } from '../local/carry-out.ts';
import type { LocalCompanions } from './local/companions.ts';
import type { PolicyMetrics } from '../metrics.ts';
import type { Plan } from '../plan.ts';
import { PeerWatch } from './remote/peer-watch.ts';
import type { RemotePeers } from './remote/peers.ts';

export type NetworkPoliciesOptions = {
  readonly options: PolicyOptions;
  readonly metrics: Pick<PolicyMetrics, 'extendedPolicies'>;
  readonly local: LocalCompanions;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly leader: Pick<Leader, 'queue'>;
};

type Followed = Pick<FollowedRemote, 'state'> & { readonly watch: PeerWatch };

/** A CNI watches each kind of objects alone: it may see a deletion before the creation of another kind that came first. */
const REPLACED_AFTER_MS = 5000;

/** Extends the NetworkPolicies that name other clusters by companions. A key is the `namespace/name` of a source. */
export class NetworkPolicies implements Feature {
  readonly #options: NetworkPoliciesOptions;
  readonly #queue: LeaderQueue;
  readonly #followed = new Map<string, Followed>();
  readonly #diagnosed = new Diagnosed();
  /** Sources whose companions replace those of another sink, and whether the CNI had time to see the new ones. */
  readonly #replacements = new Map<string, { known: boolean }>();

  constructor(options: NetworkPoliciesOptions) {
    this.#options = options;
    this.#queue = options.leader.queue(this);
  }

  /** The remotes that are watched, as policies name them. */
  get remotes(): readonly RemotePeers[] {
    return [...this.#followed.values()].flatMap(({ watch }) => watch.peers ?? []);
  }

  /** A source changed, or one of its companions. */
  changed(key: string, { isSource }: { readonly isSource: boolean }): void {
    if (isSource) for (const { watch } of this.#followed.values()) this.#setSource(watch, key);
    // A companion that somebody changed is no event: its repair counts in `repairs_total`.
    // A user doesn't wait for what a remote does.
    this.#queue.enqueue([key], isSource ? performance.now() : undefined, { isUrgent: isSource });
  }

  /** Keeps the companions for a remote until `signal` is aborted. They stay. The local NetworkPolicies are listed. */
  async follow(remote: FollowedRemote, running: RunOptions): Promise<void> {
    const { local, metrics, options } = this.#options;
    const { settings, state } = remote;
    const watch = new PeerWatch({
      ...remote,
      options,
      metrics,
      granted: () => local.policies.companions.companionsFor(settings.name).flatMap(grantedBy),
      enqueue: (sources) => this.#queue.enqueue(sources, performance.now()),
    });
    for (const key of this.keys()) this.#setSource(watch, key);
    this.#followed.set(settings.name, { watch, state });
    await watch.run(running);
    this.#followed.delete(settings.name);
  }

  /** @param since as `ReconcileContext.since` */
  enqueueAll(since?: number, more: readonly string[] = []): void {
    for (const { watch } of this.#followed.values()) watch.forget();
    this.#queue.enqueue([...this.keys(), ...more], since);
  }

  /** Every source, and every former one that still has companions, sorted. */
  keys(): readonly string[] {
    return [...this.#options.local.policies.keys()].toSorted();
  }

  startLeading(): void {
    this.enqueueAll(performance.now());
  }

  failed(failure: Parameters<Feature['failed']>[0]): void {
    this.#options.local.failed(failure);
  }

  async reconcile(key: string, { writes, since }: KeyContext): Promise<void> {
    const { local } = this.#options;
    const source = local.policies.source(key)?.source;
    const { phases: all, diagnostics } = this.#plan(key);
    const phases = source === undefined ? all : this.#withoutReplaced(key, all, source);
    await carryOut(phases, {
      clustersOf: (change) => [remoteOf(change)],
      // What goes doesn't wait for an addition that is refused.
      isIndependent: source && independentOf(all, source),
      write: (change) => writes.write({ object: nameOf(change), change, send: () => local.write(change, { since }) }),
    });
    this.#report(key, [...diagnostics, ...writes.unwritten.flatMap(refused)]);
    // What replaces the companions of another sink isn't there yet.
    if (writes.unwritten.length > 0) return;
    if (phases === all) this.#replacements.delete(key);
    else if (!this.#replacements.has(key)) this.#replaceLater(key);
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly CompanionPhase[] {
    const { phases, diagnostics } = this.#plan(key);
    this.#report(key, diagnostics);
    return phases;
  }

  #plan(key: string): {
    readonly phases: readonly CompanionPhase[];
    readonly diagnostics: readonly CompanionDiagnostic[];
  } {
    const { local } = this.#options;
    const { policies } = local;
    if (policies.isUnread(key)) return { phases: [], diagnostics: [] };
    const found = policies.source(key);
    // Orphans stay, and so do the companions for a remote that goes and comes again at this moment.
    const observed = policies.companions.objectsOf(key).filter(({ remote }) => this.#followed.has(remote));
    if (found === undefined) return { phases: withoutSource(observed), diagnostics: [] };
    const { maxAddressesPerPolicy, maxAddressesPerSource } = this.#options.options;
    return companionChanges({
      maxAddressesPerPolicy,
      maxAddressesPerSource,
      source: found.source,
      remotes: this.#viewsOf(key),
      observed,
      isTaken: (name) => local.isTaken(key, name),
      sink: this.#sinkOf(found.source),
    });
  }

  /** Adds what would be written for NetworkPolicies to a plan of the sets. */
  extendPlan({ remotes, ...plan }: Omit<Plan, 'companionChanges' | 'openRules' | 'refusals'>): Omit<Plan, 'refusals'> {
    const companionChanges = this.keys().flatMap((key) => this.plan(key).flat());
    const extended = remotes.map((remote) => {
      const companions = this.#options.local.policies.count(remote.cluster);
      const peers = this.#followed.get(remote.cluster)?.watch.peers;
      if (peers === undefined) return { ...remote, companions };
      const heldDeletions = remote.heldDeletions + peers.held;
      const reached = remote.reached && peers.synced;
      return { ...remote, companions, heldDeletions, reached, failure: reached ? undefined : peers.failure };
    });
    return { ...plan, companionChanges, openRules: this.#options.local.policies.openRules(), remotes: extended };
  }

  #sinkOf(source: Source): Sink {
    const { sink } = this.#options.local;
    return sink.accepts(source) ? sink : networkPolicySink;
  }

  /** What may be written before the CNI knows what replaces the companions of another sink; the same phases if it does. */
  #withoutReplaced(key: string, phases: readonly CompanionPhase[], source: Source): readonly CompanionPhase[] {
    if (this.#replacements.get(key)?.known === true) return phases;
    const sink = this.#sinkOf(source);
    const kept = phases.map((phase) => phase.filter((change) => !isReplaced(change, source, sink)));
    const isWhole = kept.every(({ length }, i) => length === phases[i]!.length);
    return isWhole ? phases : kept.filter(({ length }) => length > 0);
  }

  #replaceLater(key: string): void {
    const replacement = { known: false };
    this.#replacements.set(key, replacement);
    // A timer may fire a moment early, so it decides, and no clock.
    setTimeout(() => {
      replacement.known = true;
      this.#queue.enqueue([key]);
    }, REPLACED_AFTER_MS).unref();
  }

  /** The remotes that a source names, in the order of the config, with what is known of each. */
  #viewsOf(source: string) {
    return this.#options.remotes.all.flatMap(
      ({ settings }) => this.#followed.get(settings.name)?.watch.viewOf(source) ?? [],
    );
  }

  #setSource(watch: PeerWatch, key: string): void {
    const { policies } = this.#options.local;
    if (!policies.isUnread(key)) watch.setSource(key, policies.source(key)?.rules ?? []);
  }

  #report(key: string, diagnostics: readonly CompanionDiagnostic[]): void {
    const subject = `NetworkPolicy ${key}`;
    const ofRemote = Map.groupBy(diagnostics, ({ remote }) => remote);
    for (const [remote, own] of this.#diagnosed.replacing(key, ofRemote))
      this.#followed.get(remote)?.state.skipped.replace(subject, own);
  }
}

function refused({ change, error }: Unwritten): readonly CompanionDiagnostic[] {
  const refusal = refusalOf(error);
  return refusal === undefined ? [] : [{ ...refusal, remote: remoteOf(change as CompanionChange) }];
}

const grantedBy = ({ rules }: ObservedCompanion): readonly string[] => rules.flatMap(({ cidrs }) => cidrs);
