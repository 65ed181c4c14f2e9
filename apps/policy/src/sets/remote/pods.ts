import type { Change, ReflectorHooks, Store } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { type Pod, podKind, type TooLarge } from '@kube-semaphore/kube-objects';
import { Watched } from '@kube-semaphore/multicluster';
import type { PolicyOptions } from '../../config/options.ts';
import type { FollowedRemote } from '../../followed-remote.ts';
import { type Lifetime, lifetimeOf, nameLabel, type PodDiagnostic } from '@kube-semaphore/network-policies';
import type { HostNetworkPods } from '../desired/host-network.ts';
import {
  isSameMember,
  type Member,
  type Membership,
  membershipOf,
  type MembershipRules,
  withoutIps,
} from '../desired/member.ts';
import { LatePods } from '../../late-pods.ts';
import { MemberIndex, type MemberIndexOptions } from './member-index.ts';

/** What the store keeps of a Pod: its member, if it is one, and what is skipped of it. */
type RemotePod = Membership & Lifetime & { readonly uid: string };

type RemotePodsOptions = Pick<FollowedRemote, 'settings' | 'client' | 'budget' | 'addresses'> &
  Pick<MemberIndexOptions, 'hasSet' | 'skipped'> & {
    readonly options: PolicyOptions;
    readonly hostNetworkPods: HostNetworkPods;
    /** Domain of the name label: only Pods that have it are watched. */
    readonly domain: string;
    /** Members of the local sets, by a key that no Pod has: the first list is measured against them. */
    readonly seed: ReadonlyMap<string, Member>;
    readonly hooks: ReflectorHooks;
    /** Before this domain is chosen: other Pods have the label now. */
    readonly onCandidate: () => void;
    /** The first labelled Pod with an address was seen. */
    readonly onFirstPod: () => void;
    /** The sets of these keys may have other members now. */
    readonly onChange: (keys: readonly string[]) => void;
  };

/** A finished Pod never runs again, and another Pod may have its address. */
export const UNFINISHED = 'status.phase!=Succeeded,status.phase!=Failed';

/** Pods that can't be members aren't requested. */
const fieldSelectorOf = (mode: HostNetworkPods): string =>
  mode === 'exclude' ? `${UNFINISHED},spec.hostNetwork=false` : UNFINISHED;

const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];

/** The Pods of a remote cluster with the name label of a domain. Once `begin` chooses the domain, they are members of sets. */
export class RemotePods {
  readonly #options: RemotePodsOptions;
  readonly #pods: Watched<typeof podKind, RemotePod>;
  /** The members by key. */
  readonly index: MemberIndex;
  readonly #late: LatePods<RemotePod>;
  /** By name, until this domain is chosen. */
  #candidates: Map<string, RemotePod> | undefined = new Map();
  #podsSeen = false;
  readonly #ended = new AbortController();

  constructor(options: RemotePodsOptions) {
    this.#options = options;
    const { client, settings, domain, budget, hooks, addresses, hostNetworkPods } = options;
    const { maxRemoteSets, deletionGuardPercent, deletionGuardMin, deletionGuardHoldMs, watchIdleTimeoutMs } =
      options.options;
    this.index = new MemberIndex(settings.name, { ...options, limit: maxRemoteSets });
    const guard = { percent: deletionGuardPercent, min: deletionGuardMin };
    this.#late = new LatePods({
      view: () => this.store.view,
      addressesOf: claims,
      isHolder: ({ member }) => member?.held !== true && member?.hostNetwork === false,
      without: (pod, { lost, skipped }) => ({
        ...pod,
        member: pod.member && withoutIps(pod.member, lost),
        skipped: [...pod.skipped, ...skipped],
      }),
      // The new owner of an address may have no label.
      isTimeEnough: true,
      equal: isSame,
      onChange: (change) => this.#counted(change),
    });
    const rules: MembershipRules = { nameLabel: nameLabel(domain), addresses, intern: interner() };
    this.#pods = new Watched<typeof podKind, RemotePod>({
      client,
      kind: podKind,
      labelSelector: rules.nameLabel,
      fieldSelector: fieldSelectorOf(hostNetworkPods),
      project: (pod) => readPod(pod, rules),
      projectTooLarge: readTooLarge,
      equal: (a, b) => a.deletionMs === b.deletionMs && isSame(a, b),
      onChange: (change) => this.#changed(change),
      holding: { guard, hold, claims, withoutClaim },
      budget,
      idleTimeoutMs: watchIdleTimeoutMs,
      holdMs: deletionGuardHoldMs,
      hooks: {
        ...hooks,
        onSynced: () => {
          this.#late.settle();
          hooks.onSynced?.();
        },
      },
    });
  }

  /** Labelled Pods that haven't finished, and held ones. */
  get store(): Store<RemotePod> {
    return this.#pods.store;
  }

  get synced(): boolean {
    return this.#pods.synced;
  }

  /** Milliseconds since the watch last did anything. */
  get silentMs(): number {
    return this.#pods.silentMs;
  }

  get domain(): string {
    return this.#options.domain;
  }

  /** `namespace/name` of the Pods with the label, members or not; empty once the domain is chosen. */
  get candidates(): ReadonlySet<string> {
    return new Set(this.#candidates?.keys());
  }

  /** This domain is chosen: reports the Pods so far, and every change from now on. */
  begin(): void {
    const seen = this.#candidates ?? [];
    this.#candidates = undefined;
    for (const [name, pod] of seen) this.#changed({ key: name, previous: undefined, current: pod });
    this.#late.settle();
  }

  /** Another domain is chosen. */
  end(): void {
    this.#ended.abort();
  }

  /** Watches until `signal` is aborted or `end` is called. Called once. */
  async run(options: RunOptions): Promise<void> {
    const signal = AbortSignal.any([options.signal, this.#ended.signal]);
    for (const [key, member] of this.#options.seed)
      this.#pods.seed(key, { uid: '', created: 0, member, skipped: NOTHING_SKIPPED });
    await this.#pods.run({ signal });
    this.#late.stop();
  }

  /** Whether a labelled Pod with an address was seen since the process started. */
  get podsSeen(): boolean {
    return this.#podsSeen;
  }

  #changed(change: Change<RemotePod>): void {
    const { key, current } = change;
    if (this.#candidates !== undefined) {
      if (current === undefined) this.#candidates.delete(key);
      else this.#candidates.set(key, current);
      this.#options.onCandidate();
      return;
    }
    this.#late.changed(change);
    if (this.#podsSeen || current?.member === undefined || current.member.held === true) return;
    this.#podsSeen = true;
    this.#options.onFirstPod();
  }

  /** A Pod changed, as far as it counts. */
  #counted({ key, previous, current }: Change<RemotePod>): void {
    const keys = this.index.apply(previous?.member, current?.member);
    this.#options.skipped.replace(`pod ${key}`, current?.skipped ?? NOTHING_SKIPPED);
    this.#options.onChange(keys);
  }
}

function readPod(pod: Pod, rules: MembershipRules): RemotePod {
  const { uid } = pod.metadata;
  const { created, deletionMs } = lifetimeOf(pod.metadata);
  const { member, skipped } = membershipOf(pod, rules);
  // Spreading these would take 30 bytes more of memory, for each of 50,000 Pods.
  const read = { uid, created, member, skipped };
  return deletionMs === undefined ? read : { ...read, deletionMs };
}

function readTooLarge({ metadata, tooLarge: detail }: TooLarge): RemotePod {
  return {
    uid: metadata.uid,
    created: 0,
    member: undefined,
    skipped: [{ kind: 'problem', reason: 'too-large', detail }],
  };
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
  const member = pod.member && withoutIps(pod.member, [ip]);
  return member && { ...pod, member };
}

/** Most clusters have fewer namespaces and label values. */
const MOST_SHARED = 1_000;

/** One string for equal texts, but for those that weren't seen for long: namespaces come and go for years. */
function interner(): (text: string) => string {
  let [known, before] = [new Map<string, string>(), new Map<string, string>()];
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MOST_SHARED) [known, before] = [new Map(), known];
    const shared = before.get(text) ?? text;
    known.set(shared, shared);
    return shared;
  };
}
