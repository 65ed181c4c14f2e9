import { POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import { Reflector, type ReflectorHooks, type RemoteBudget, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Pod, podKind, type TooLarge } from '@kube-semaphore/kube-objects';
import type { Cidr } from '@kube-semaphore/net';
import type { PolicyOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import type { HostNetworkPods } from '../desired/host-network.ts';
import {
  isSameMember,
  type Member,
  type Membership,
  membershipOf,
  type MembershipRules,
  type PairMembers,
  type PodDiagnostic,
} from '../desired/member.ts';
import { nameLabel } from '../names.ts';
import { MemberIndex, type MemberIndexOptions } from './member-index.ts';

/** What the store keeps of a Pod: its member, if it is one, and what is skipped of it. */
type RemotePod = Membership & { readonly uid: string };

export type RemotePodsOptions = Pick<MemberIndexOptions, 'hasSet' | 'onSkippedSet'> & {
  readonly client: KubeClient;
  readonly settings: RemoteSettings;
  readonly options: PolicyOptions;
  readonly hostNetworkPods: HostNetworkPods;
  /** As `RemoteOptions`. */
  readonly localCidrs: readonly Cidr[];
  readonly serviceRanges: readonly Cidr[];
  /** Domain of the name label: only Pods that have it are watched. */
  readonly domain: string;
  readonly budget: RemoteBudget;
  /** Members of the local sets, by a key that no Pod has: the first list is measured against them. */
  readonly seed: ReadonlyMap<string, Member>;
  readonly hooks: ReflectorHooks;
  /** Before this domain is chosen: other Pods have the label now. */
  readonly onCandidate: () => void;
  /** The first labelled Pod with an address was seen. */
  readonly onFirstPod: () => void;
  /** The sets of these keys may have other members now. */
  readonly onChange: (keys: readonly string[]) => void;
  /** What is skipped of a Pod (`namespace/name`) from now on. */
  readonly onSkippedPod: (pod: string, skipped: readonly PodDiagnostic[]) => void;
};

/** A finished Pod never runs again, and another Pod may have its address. */
const UNFINISHED = 'status.phase!=Succeeded,status.phase!=Failed';

/** The server is told not to send Pods that can't be members. */
const fieldSelectorOf = (mode: HostNetworkPods): string =>
  mode === 'exclude' ? `${UNFINISHED},spec.hostNetwork=false` : UNFINISHED;

const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];

/**
 * The Pods of a remote cluster that carry the name label of a domain. Once `begin` says that this domain counts, they are
 * members of sets, by key.
 */
export class RemotePods {
  readonly #options: RemotePodsOptions;
  readonly #store: Store<RemotePod>;
  readonly #index: MemberIndex;
  /** By name, until this domain counts. */
  #candidates: Map<string, RemotePod> | undefined = new Map();
  #podsSeen = false;
  readonly #ended = new AbortController();
  readonly #reflector: Reflector<typeof podKind, RemotePod>;

  constructor(options: RemotePodsOptions) {
    this.#options = options;
    const { client, settings, domain, budget, hooks, localCidrs, serviceRanges, hostNetworkPods } = options;
    const { maxRemoteSets, deletionGuardPercent, deletionGuardMin, deletionGuardHoldMs, watchIdleTimeoutMs } =
      options.options;
    this.#index = new MemberIndex(settings.name, { ...options, limit: maxRemoteSets });
    const guard = { percent: deletionGuardPercent, min: deletionGuardMin };
    this.#store = new Store<RemotePod>({
      equal: isSame,
      onChange: ({ key, previous, current }) => this.#changed(key, previous, current),
      holding: { guard, hold, claims, withoutClaim },
    });
    const addresses = { allowed: settings.allowedPodCidrs, local: localCidrs, services: serviceRanges };
    const rules: MembershipRules = { nameLabel: nameLabel(domain), addresses, intern: interner() };
    this.#reflector = new Reflector({
      client,
      kind: podKind,
      labelSelector: rules.nameLabel,
      fieldSelector: fieldSelectorOf(hostNetworkPods),
      watchList: 'auto',
      project: (pod) => read(pod, rules),
      projectTooLarge: readTooLarge,
      store: this.#store,
      budget,
      idleTimeoutMs: watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      holdMs: deletionGuardHoldMs,
      hooks,
    });
  }

  get synced(): boolean {
    return this.#store.view.synced;
  }

  /** Milliseconds since the watch last stirred. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  get domain(): string {
    return this.#options.domain;
  }

  /** `namespace/name` of those that carry the label, members or not; none once the domain counts. */
  get candidates(): ReadonlySet<string> {
    return new Set(this.#candidates?.keys());
  }

  /** This domain counts: reports the Pods that were seen so far, and from now on every change. */
  begin(): void {
    const seen = this.#candidates ?? [];
    this.#candidates = undefined;
    for (const [name, pod] of seen) this.#changed(name, undefined, pod);
  }

  /** Another domain counts. */
  end(): void {
    this.#ended.abort();
  }

  /** Watches until `signal` is aborted, or until the end; once. */
  run(options: RunOptions): Promise<void> {
    const signal = AbortSignal.any([options.signal, this.#ended.signal]);
    for (const [key, member] of this.#options.seed)
      this.#store.seed(key, { uid: '', member, skipped: NOTHING_SKIPPED });
    return this.#reflector.run({ signal });
  }

  /** Whether any member was seen since the process started. */
  get podsSeen(): boolean {
    return this.#podsSeen;
  }

  /** How many labelled Pods there are that haven't finished. */
  get size(): number {
    return this.#store.size;
  }

  /** How many of them, or of their addresses from before we started, a list lacked that isn't believed yet. */
  get held(): number {
    return this.#store.held;
  }

  /** Whether it has more sets than it may have: some are left out. */
  get isOverSets(): boolean {
    return this.#index.isOver;
  }

  /** The pairs of a key that have members. */
  pairs(key: string): readonly PairMembers[] {
    return this.#index.pairs(key);
  }

  /** All keys that have members. */
  keys(): readonly string[] {
    return this.#index.keys();
  }

  #changed(pod: string, previous: RemotePod | undefined, current: RemotePod | undefined): void {
    if (this.#candidates !== undefined) {
      if (current === undefined) this.#candidates.delete(pod);
      else this.#candidates.set(pod, current);
      this.#options.onCandidate();
      return;
    }
    const keys = this.#index.apply(previous?.member, current?.member);
    this.#options.onSkippedPod(pod, current?.skipped ?? NOTHING_SKIPPED);
    this.#options.onChange(keys);
    if (this.#podsSeen || current?.member === undefined || current.member.held === true) return;
    this.#podsSeen = true;
    this.#options.onFirstPod();
  }
}

function read(pod: Pod, rules: MembershipRules): RemotePod {
  return { uid: pod.metadata.uid, ...membershipOf(pod, rules) };
}

function readTooLarge({ metadata, tooLarge: detail }: TooLarge): RemotePod {
  return { uid: metadata.uid, member: undefined, skipped: [{ kind: 'problem', reason: 'too-large', detail }] };
}

function isSame(a: RemotePod, b: RemotePod): boolean {
  const sameMember =
    a.member === undefined || b.member === undefined ? a.member === b.member : isSameMember(a.member, b.member);
  return (
    sameMember &&
    a.skipped.length === b.skipped.length &&
    a.skipped.every(({ detail }, i) => detail === b.skipped[i]?.detail)
  );
}

const hold = (pod: RemotePod): RemotePod =>
  pod.member === undefined ? pod : { ...pod, member: { ...pod.member, held: true } };

const claims = ({ member }: RemotePod): readonly string[] => member?.ips ?? [];

function withoutClaim(pod: RemotePod, ip: string): RemotePod | undefined {
  const ips = claims(pod).filter((candidate) => candidate !== ip);
  return pod.member === undefined || ips.length === 0 ? undefined : { ...pod, member: { ...pod.member, ips } };
}

/**
 * One string for each text. It forgets nothing: there are as many as the cluster ever had namespaces and label
 * values, and a remote that makes up new ones for ever is cut off.
 */
function interner(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size < 100_000) known.set(text, text);
    return text;
  };
}
