import { isDeepStrictEqual } from 'node:util';
import { type RemoteState, Watched } from '@kube-semaphore/multicluster';
import type { Change, ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  type Namespace,
  namespaceKind,
  type PodWithPorts,
  podWithPortsKind,
  type TooLarge,
} from '@kube-semaphore/kube-objects';
import { quoted } from '@kube-semaphore/text';
import type { PolicyOptions } from '../../config/options.ts';
import type { FollowedRemote } from '../../followed-remote.ts';
import {
  type CrossClusterRule,
  isAllowedHost,
  type Labels,
  type Lifetime,
  lifetimeOf,
  type PeerPod,
  peerPodOf,
  type PeerPodRules,
  type PodDiagnostic,
  type RemoteView,
  withoutCidrs,
} from '@kube-semaphore/network-policies';
import { LatePods } from '../../late-pods.ts';
import { PodIdentities } from './pod-identities.ts';
import { UNFINISHED } from '../../sets/remote/pods.ts';

/** A remote whose Pods NetworkPolicies may select. */
export type PeersInput = Pick<FollowedRemote, 'settings' | 'client' | 'state' | 'budget' | 'addresses'> & {
  readonly options: PolicyOptions;
};

export type RemotePeersOptions = PeersInput & {
  /** Labels that one Pod alone has, and that a podSelector names: other such labels aren't kept. */
  readonly selectorKeys: ReadonlySet<string>;
  /** What companions grant to it: the first list is measured against these addresses. */
  readonly granted: Iterable<string>;
  /**
   * The peers of these sources select other Pods or addresses. Default: all sources, as the remote is known now, or what is
   * held of it changed. Called once the remote is known.
   */
  readonly enqueue: (sources?: Iterable<string>) => void;
};

/** What the store keeps of a Pod. `granted` is from the seed: an address whose Pod is not known yet. */
type KnownPod = Lifetime & {
  readonly uid: string;
  readonly pod: PeerPod | undefined;
  readonly skipped: readonly PodDiagnostic[];
  readonly granted?: string;
};

type KnownNamespace = { readonly uid: string; readonly labels: Labels | undefined };

const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];

/** For `RemoteState.setHeld`. */
const PURPOSE = 'network policies';

/** The Pods and Namespaces of a remote, from when a NetworkPolicy names it until long after the last one does. */
export class RemotePeers {
  readonly cluster: string;
  readonly selectorKeys: ReadonlySet<string>;
  readonly #options: RemotePeersOptions;
  readonly #identities: PodIdentities;
  readonly #late: LatePods<KnownPod>;
  readonly #pods: Watched<typeof podWithPortsKind, KnownPod>;
  readonly #namespaces: Watched<typeof namespaceKind, KnownNamespace>;
  readonly #hooks: readonly ReflectorHooks[];
  /** Addresses of the seed whose Pods are not known yet. */
  readonly #held = new Set<string>();
  /** Since the last change that may concern the source. */
  readonly #views = new Map<string, RemoteView>();
  /** Subjects with diagnostics. */
  readonly #subjects = new Set<string>();
  readonly #ended = new AbortController();
  readonly #firstSync = Promise.withResolvers<void>();
  /** Resolves when both are listed, or the watch has ended. */
  readonly firstSync = this.#firstSync.promise;

  constructor(options: RemotePeersOptions) {
    const { settings, client, state, budget } = options;
    const { deletionGuardPercent, deletionGuardMin, deletionGuardHoldMs, watchIdleTimeoutMs, clusterSetKey } =
      options.options;
    this.#options = options;
    this.cluster = settings.name;
    this.selectorKeys = options.selectorKeys;
    this.#identities = new PodIdentities({
      key: clusterSetKey,
      id: settings.clusterSetId,
      labels: settings.labels,
      onChange: (sources) => {
        for (const source of sources) this.#views.delete(source);
        if (this.synced) options.enqueue(sources);
      },
    });
    const { addresses, selectorKeys } = options;
    const rules: PeerPodRules = {
      addresses,
      selectorKeys,
      intern: (identity) => this.#identities.intern(identity),
    };
    const guard = { percent: deletionGuardPercent, min: deletionGuardMin };
    const { remotePodSelector } = options.options;
    this.#late = new LatePods({
      view: () => this.#pods.store.view,
      addressesOf: ({ pod }) => pod?.cidrs ?? [],
      isHolder: () => true,
      without: (known, { lost, skipped }) => ({
        ...known,
        pod: known.pod && withoutCidrs(known.pod, lost),
        skipped: [...known.skipped, ...skipped],
      }),
      isTimeEnough: remotePodSelector !== undefined,
      equal: isSamePod,
      onChange: (change) => this.#counted(change),
    });
    const hooks = [state.watches.hooks(), state.watches.hooks()] as const;
    const shared = {
      client,
      budget,
      idleTimeoutMs: watchIdleTimeoutMs,
      holdMs: deletionGuardHoldMs,
    } as const;
    this.#hooks = hooks;
    this.#pods = new Watched<typeof podWithPortsKind, KnownPod>({
      ...shared,
      kind: podWithPortsKind,
      fieldSelector: `${UNFINISHED},spec.hostNetwork=false`,
      ...(remotePodSelector !== undefined && { labelSelector: remotePodSelector }),
      project: (pod) => readPod(pod, rules),
      projectTooLarge: readTooLargePod,
      equal: (a, b) => a.deletionMs === b.deletionMs && isSamePod(a, b),
      onChange: (change) => this.#podChanged(change),
      holding: { guard, hold: (pod) => pod, claims: claimsOf, withoutClaim },
      hooks: this.#withSync(hooks[0]),
    });
    this.#namespaces = new Watched<typeof namespaceKind, KnownNamespace>({
      ...shared,
      kind: namespaceKind,
      project: ({ metadata: { uid, labels } }: Namespace) => ({ uid, labels }),
      // Its labels are not known, so no peer selects its Pods, and none loses them.
      projectTooLarge: ({ metadata: { uid } }: TooLarge) => ({ uid, labels: undefined }),
      equal: (a, b) => isDeepStrictEqual(a.labels, b.labels),
      onChange: ({ key, current }) => this.#namespaceChanged(key, current),
      holding: { guard, hold: (namespace) => namespace, claims: () => [], withoutClaim: () => undefined },
      hooks: this.#withSync(hooks[1]),
    });
  }

  /** Whether its Pods and Namespaces are listed. */
  get synced(): boolean {
    return this.#pods.synced && this.#namespaces.synced;
  }

  /** Milliseconds since its most silent watch last did anything. */
  get silentMs(): number {
    return Math.max(this.#pods.silentMs, this.#namespaces.silentMs);
  }

  /** Why the remote is not reached, possibly with text of others. */
  get failure(): string | undefined {
    return this.#options.state.watches.failure;
  }

  /** How many deletions are held. */
  get held(): number {
    return this.#pods.held + this.#namespaces.held;
  }

  /** What is known of it, for a reconcile of a source: the same view until something changes that may concern the source. */
  view(source: string): RemoteView {
    if (!this.synced) return unknownView(this.#options);
    const known = this.#views.get(source) ?? this.#view();
    this.#views.set(source, known);
    return known;
  }

  #view(): RemoteView {
    const { cluster } = this;
    const unplaced = this.#identities.unplaced();
    return {
      cluster,
      known: true,
      podsOf: (rule) => this.#identities.podsOf(rule),
      isHeld: (cidr) => this.#held.has(cidr) || unplaced.has(cidr),
    };
  }

  /** Has every view made anew. */
  forget(): void {
    this.#views.clear();
  }

  /** A source has these rules that name it; none: it is gone, or names it no more. */
  setSource(source: string, rules: readonly CrossClusterRule[]): void {
    this.#views.delete(source);
    this.#identities.setSource(source, rules);
  }

  /** Watches until `signal` is aborted or `end` is called. Called once. */
  async run(options: RunOptions): Promise<void> {
    const { granted, addresses, state } = this.#options;
    const signal = AbortSignal.any([options.signal, this.#ended.signal]);
    if (this.#options.options.deletionGuardPercent < 100)
      for (const cidr of granted) if (isAllowedHost(cidr, addresses)) this.#pods.seed(`granted ${cidr}`, seedOf(cidr));
    await Promise.all([this.#pods.run({ signal }), this.#namespaces.run({ signal })]);
    this.#late.stop();
    for (const hooks of this.#hooks) state.watches.drop(hooks);
    for (const subject of this.#subjects) state.skipped.replace(subject, []);
    state.setHeld(0, PURPOSE);
    this.#firstSync.resolve();
  }

  /** No source names it any more. */
  end(): void {
    this.#ended.abort();
  }

  #withSync(hooks: ReflectorHooks): ReflectorHooks {
    return {
      ...hooks,
      onSynced: () => {
        this.#late.settle();
        hooks.onSynced?.();
        if (this.synced) this.#listed();
      },
    };
  }

  #listed(): void {
    const { state, enqueue } = this.#options;
    const counts = { pods: this.#pods.size - this.#pods.held, identities: this.#identities.size };
    state.listed('remote pods listed for NetworkPolicies', counts, this.held);
    state.setHeld(this.held, PURPOSE);
    this.#firstSync.resolve();
    this.forget();
    enqueue();
  }

  #podChanged(change: Change<KnownPod>): void {
    const { previous, current } = change;
    const { state, enqueue } = this.#options;
    this.#late.changed(change);
    if (current?.granted !== undefined) this.#held.add(current.granted);
    else if (previous?.granted !== undefined) this.#held.delete(previous.granted);
    if (current?.granted !== undefined || previous?.granted !== undefined) this.forget();
    if (!this.synced) return;
    state.setHeld(this.held, PURPOSE);
    if (previous?.granted !== undefined) enqueue();
  }

  /** A Pod changed, as far as it counts. */
  #counted({ key, previous, current }: Change<KnownPod>): void {
    // Of a Pod whose namespace is not known, any source may have an address.
    if (this.#identities.hasUnplaced) this.forget();
    this.#identities.setPod(key, previous?.pod?.identity, current?.pod);
    if (this.#identities.hasUnplaced) this.forget();
    this.#report(`pod ${key}, for NetworkPolicies`, current?.skipped ?? NOTHING_SKIPPED);
  }

  #namespaceChanged(name: string, current: KnownNamespace | undefined): void {
    const { settings, options } = this.#options;
    this.#identities.setNamespace(name, current?.labels);
    this.forget();
    const value = current?.labels?.[options.clusterSetKey];
    const differs = value !== undefined && value !== settings.clusterSetId;
    const detail = `the namespace says that its cluster is ${quoted(value ?? '')}; ${settings.clusterSetId} counts, as the config says`;
    this.#report(`namespace ${name}`, differs ? [{ kind: 'problem', reason: 'cluster-label-differs', detail }] : []);
  }

  #report(subject: string, diagnostics: Parameters<RemoteState['skipped']['replace']>[1]): void {
    if (diagnostics.length > 0) this.#subjects.add(subject);
    // Most clusters have none, and looking for one costs more than storing the Pod.
    else if (this.#subjects.size === 0 || !this.#subjects.delete(subject)) return;
    this.#options.state.skipped.replace(subject, diagnostics);
  }
}

/** A remote that isn't listed: it keeps what it was granted, as far as that is allowed now. */
export function unknownView({ settings, addresses }: Pick<PeersInput, 'settings' | 'addresses'>): RemoteView {
  return { cluster: settings.name, known: false, isAllowed: (cidr) => isAllowedHost(cidr, addresses) };
}

const seedOf = (cidr: string): KnownPod => ({
  uid: '',
  created: 0,
  pod: undefined,
  skipped: NOTHING_SKIPPED,
  granted: cidr,
});

function readPod(object: PodWithPorts, rules: PeerPodRules): KnownPod {
  const { uid } = object.metadata;
  const { created, deletionMs } = lifetimeOf(object.metadata);
  const { pod, skipped } = peerPodOf(object, rules);
  // Spreading these would take 30 bytes more of memory, for each of 50,000 Pods.
  const read = { uid, created, pod, skipped };
  return deletionMs === undefined ? read : { ...read, deletionMs };
}

function readTooLargePod({ metadata: { uid }, tooLarge: detail }: TooLarge): KnownPod {
  return { uid, created: 0, pod: undefined, skipped: [{ kind: 'problem', reason: 'too-large', detail }] };
}

function isSamePod(a: KnownPod, b: KnownPod): boolean {
  return (
    a.granted === b.granted &&
    a.pod?.identity === b.pod?.identity &&
    isDeepStrictEqual(a.pod?.cidrs, b.pod?.cidrs) &&
    isDeepStrictEqual(a.skipped, b.skipped)
  );
}

const claimsOf = ({ pod, granted }: KnownPod): readonly string[] =>
  pod?.cidrs ?? (granted === undefined ? [] : [granted]);

function withoutClaim(known: KnownPod, claim: string): KnownPod | undefined {
  const pod = known.pod && withoutCidrs(known.pod, [claim]);
  return pod && { ...known, pod };
}
