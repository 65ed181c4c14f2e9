import { ConfigError, type Instruments, type Logger } from '@kube-semaphore/runtime';
import {
  type Diagnostic,
  POLL_INTERVAL_MS,
  remoteBudget,
  RemoteState,
  reportRestriction,
} from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import type { ReflectorHooks, RemoteBudget } from '@kube-semaphore/informers';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { labelDomains, nameLabel } from '../names.ts';
import type { Cidr, Parsed } from '@kube-semaphore/net';
import type { Given } from '@kube-semaphore/options';
import { detectIdentity, identityOfDomain } from '../desired/identity.ts';
import { compareClusterSetId } from './cluster-set-id.ts';
import { seedOf } from './seed.ts';
import { isHeldWithoutPods } from '../desired/held.ts';
import { chooseDomain, type DomainChoice } from '../desired/label-domain.ts';
import type { LocalSets } from '../local/sets.ts';
import type { PairMembers } from '../desired/member.ts';
import type { metrics } from '../metrics.ts';
import type { SetDiagnostic } from '../desired/diagnostic.ts';
import type { PolicyOptions } from '../config/options.ts';
import type { RemotePlan } from '../plan.ts';
import { fieldSelectorOf, RemotePods } from './pods.ts';
import type { Identity } from '../desired/labels.ts';
import type { KnownRemote } from '../reconciler.ts';
import type { RemoteSettings } from '../config/settings.ts';

export type RemoteOptions = {
  readonly settings: RemoteSettings;
  /** Of the local cluster: it may bring in no address in them. */
  readonly localCidrs: readonly Cidr[];
  /** Of the local cluster, too: it brings in one in them only where a block of them is allowed. */
  readonly serviceRanges: readonly Cidr[];
  readonly connection: Connection;
  readonly userAgent: string;
  /** Whether this replica may choose the label domain by Pods now. */
  readonly mayChoose: () => boolean;
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

/** That of a notice about Pods with the labels of another domain. */
const OTHER_DOMAIN = 'label domain';

/** That of a notice about sets that aren't ours. */
const OLDER_SETS = 'sets of v0.1.0';

/** One remote cluster: its Pods, what is left out of them, and whether they are known. */
export class Remote implements KnownRemote {
  readonly cluster: string;
  readonly #options: RemoteOptions;
  readonly #state: RemoteState;
  readonly #client: KubeClient;
  readonly #hooks: ReflectorHooks;
  /** What is watched: the Pods of each domain that may count, and only the chosen ones as soon as something says which it is. */
  #watched: readonly RemotePods[];
  #chosen: { readonly identity: Identity; readonly pods: RemotePods } | undefined;
  #listedOnce = false;
  readonly #firstSync = Promise.withResolvers<void>();

  /** @throws ConfigError when its local sets carry more than one identity, and no flag says which */
  constructor(remote: RemoteOptions) {
    const { settings, options, metrics } = remote;
    const cluster = settings.name;
    this.cluster = cluster;
    this.#state = new RemoteState({
      cluster,
      metrics,
      log: remote.log,
      holdMs: options.deletionGuardHoldMs,
      onFirstSync: () => undefined,
    });
    const { log } = this.#state;
    this.#options = { ...remote, log };
    reportRestriction({ cluster, allowed: settings.allowedPodCidrs, metrics, log });
    const client = new KubeClient({
      connection: remote.connection,
      userAgent: remote.userAgent,
      encoding: options.encoding,
    });
    this.#client = client;
    const hooks = this.#state.watches.hooks();
    this.#hooks = {
      ...hooks,
      onRestart: (restart) => {
        if (restart.error !== undefined) metrics.podWatcherFailures.inc({ type: restart.verb });
        hooks.onRestart?.(restart);
      },
    };
    const identity = this.#identity();
    if (!identity.ok) throw new ConfigError(identity.reason);
    const budget = remoteBudget(options);
    const domains = identity.value === undefined ? labelDomains : [identity.value.domain];
    this.#watched = domains.map((domain) => this.#openPods(domain, budget));
    this.settle();
  }

  /** Under which labels its sets are written; undefined before that is settled. */
  get identity(): Identity | undefined {
    return this.#chosen?.identity;
  }

  /** Whether a first list is complete: of its Pods, or of both domains where none is settled yet. */
  get synced(): boolean {
    return this.#listedOnce;
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
    return Math.max(...this.#watched.map(({ silentMs }) => silentMs));
  }

  isKnown(): boolean {
    return this.#chosen?.pods.synced === true && !isHeldWithoutPods(this.#sighting());
  }

  /**
   * Settles under which labels its sets are written, if it isn't yet: what its sets or a flag say, and else what Pods carry.
   * Only the leader goes by Pods; a standby follows the sets that the leader writes, so the two don't differ.
   */
  settle(): void {
    if (this.#chosen !== undefined) return;
    const { options, mayChoose, log } = this.#options;
    const identity = this.#identity();
    if (!identity.ok) {
      // At the start this ends the process; now others of its remotes are being served.
      this.#state.skips.replace(WHOLE_CLUSTER, [
        { kind: 'problem', reason: 'two-identities', detail: identity.reason },
      ]);
      return;
    }
    if (identity.value !== undefined) {
      this.#choose(identity.value);
      return;
    }
    const choice = mayChoose() && this.#areAllSynced ? this.#choiceByPods() : undefined;
    if (choice === undefined) return;
    if (choice.overlooked > 0) {
      this.#state.skips.replace(OTHER_DOMAIN, [otherDomain(choice)]);
      log.warn({ cluster: this.cluster, ...choice }, 'Pods carry the name label of another domain, and are in no set');
    }
    this.#choose(identityOfDomain(choice.domain, options));
  }

  pairs(key: string): readonly PairMembers[] {
    return this.#chosen?.pods.pairs(key) ?? [];
  }

  keys(): readonly string[] {
    return this.#chosen?.pods.keys() ?? [];
  }

  /** What there is to say about it in a plan. */
  plan(): RemotePlan {
    const sighting = this.#sighting();
    return {
      cluster: this.cluster,
      reached: this.#listedOnce,
      failure: this.#listedOnce ? undefined : this.#state.watches.failure,
      heldBack: isHeldWithoutPods(sighting) ? noPodMatches(sighting.ownSets).detail : undefined,
      heldDeletions: this.#chosen?.pods.synced === true ? this.#chosen.pods.held : 0,
      skipped: this.#state.skips.all(),
      sets: this.#options.localSets
        .own()
        .filter(({ cluster }) => cluster === this.cluster)
        .map(({ set }) => set.name)
        .toSorted(),
    };
  }

  /** What is worth knowing about its sets of a key from now on. */
  notice(key: string, diagnostics: readonly SetDiagnostic[]): void {
    this.#state.skips.replace(
      `set ${key}`,
      diagnostics.filter(({ cluster }) => cluster === this.cluster),
    );
  }

  /** Looks which sets v0.1.0 left: they are told, and stay as they are. */
  noticeOlderSets(): void {
    this.#state.skips.replace(OLDER_SETS, this.#options.localSets.ofFirstRelease(this.cluster).map(olderSet));
  }

  /** Watches until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all([...this.#watched.map((pods) => pods.run({ signal })), this.#compareIdOnce(signal)]);
  }

  get #areAllSynced(): boolean {
    return this.#watched.every(({ synced }) => synced);
  }

  #choiceByPods(): DomainChoice | undefined {
    return chooseDomain(new Map(this.#watched.map(({ domain, candidates }) => [domain, candidates])));
  }

  #identity(): Parsed<Identity | undefined> {
    const { localSets, options } = this.#options;
    return detectIdentity(localSets.labels(), this.cluster, options);
  }

  #choose(found: Identity): void {
    const { log, localSets, options } = this.#options;
    const identity = { ...found, clusterSet: options.clusterSetLabel };
    const pods = this.#watched.find(({ domain }) => domain === identity.domain)!;
    this.#chosen = { identity, pods };
    log.info({ cluster: this.cluster, ...identity, sets: localSets.ownSets(this.cluster) }, 'local sets listed');
    this.#state.skips.replace(WHOLE_CLUSTER, []);
    for (const other of this.#watched) if (other !== pods) other.end();
    this.#watched = [pods];
    pods.begin();
    if (pods.synced) this.#listed();
  }

  #openPods(domain: string, budget: RemoteBudget): RemotePods {
    const { settings, localCidrs, serviceRanges, localSets, domains, options, given, metrics, onKnown, onChange } =
      this.#options;
    return new RemotePods({
      client: this.#client,
      cluster: this.cluster,
      domain,
      fieldSelector: fieldSelectorOf(options.hostNetworkPods === 'include' || !given.has('hostNetworkPods')),
      addresses: { allowed: settings.allowedPodCidrs, local: localCidrs, services: serviceRanges },
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      budget,
      sets: {
        limit: options.maxRemoteSets,
        isHere: (key) => localSets.ofKey(key).some((set) => set.cluster === this.cluster),
        onLeftOut: (pair, isLeftOut) =>
          this.#state.skips.replace(`set of ${pair}`, isLeftOut ? [tooManySets(options.maxRemoteSets)] : []),
      },
      guard: { percent: options.deletionGuardPercent, min: options.deletionGuardMin },
      holdMs: options.deletionGuardHoldMs,
      seed: options.deletionGuardPercent === 100 ? new Map() : seedOf(localSets.own(), this.cluster, domains),
      hooks: {
        ...this.#hooks,
        onSynced: () => {
          if (!this.#areAllSynced) return;
          this.#hooks.onSynced?.();
          if (this.#chosen === undefined) this.#candidatesListed();
          else this.#listed();
        },
      },
      onCandidate: () => this.settle(),
      onFirstPod: () => {
        this.#state.skips.replace(WHOLE_CLUSTER, []);
        onKnown();
      },
      onChange: (keys) => {
        this.#countHeld();
        const isOverSets = this.#chosen?.pods.isOverSets === true;
        metrics.remoteOverBudget.set({ remote: this.cluster, budget: 'sets' }, isOverSets ? 1 : 0);
        onChange(keys);
      },
      onSkipped: (pod, skipped) => this.#state.skips.replace(`pod ${pod}`, skipped),
    });
  }

  /** The Pods of each domain were listed while nothing said which counts. */
  #candidatesListed(): void {
    this.settle();
    if (this.#chosen !== undefined) return;
    const { log } = this.#options;
    if (this.#choiceByPods() === undefined) this.#state.skips.replace(WHOLE_CLUSTER, [NO_LABELLED_POD]);
    if (!this.#listedOnce)
      log.info({ cluster: this.cluster, pods: 0, domains: labelDomains }, 'no label domain chosen yet');
    this.#syncedFirst();
  }

  #syncedFirst(): void {
    this.#listedOnce = true;
    this.#firstSync.resolve();
  }

  /** A wrong id would let policies of others select the wrong cluster; it is said, and nothing else happens. */
  async #compareIdOnce(signal: AbortSignal): Promise<void> {
    if (!this.#options.options.clusterSetLabel) return;
    await Promise.race([this.firstSync, aborted(signal)]);
    if (signal.aborted) return;
    const { log } = this.#options;
    const answer = await compareClusterSetId(this.#client, this.cluster, { signal });
    if (answer.kind === 'different')
      log.warn({ cluster: this.cluster, id: answer.id }, 'the remote calls itself something else in its ClusterSet');
    if (answer.kind === 'unknown')
      log.debug({ cluster: this.cluster, error: answer.error }, 'the remote does not tell its id in a ClusterSet');
  }

  #listed(): void {
    const sighting = this.#sighting();
    if (isHeldWithoutPods(sighting)) this.#state.skips.replace(WHOLE_CLUSTER, [noPodMatches(sighting.ownSets)]);
    const { held, size } = this.#chosen!.pods;
    this.#state.listed('remote pods listed', { pods: size - held }, held);
    this.#countHeld();
    this.#syncedFirst();
    this.#options.onKnown();
  }

  #countHeld(): void {
    const pods = this.#chosen?.pods;
    this.#state.setHeld(pods?.synced === true ? pods.held : undefined);
  }

  #sighting() {
    return { podsSeen: this.#chosen?.pods.podsSeen === true, ownSets: this.#options.localSets.ownSets(this.cluster) };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

function noPodMatches(ownSets: number): Diagnostic {
  const detail = `there are ${ownSets} sets and no Pod matches: nothing is deleted before one does. Is -label-domain right, and the cluster?`;
  return { kind: 'problem', reason: 'no-pod-matches', detail };
}

const tooManySets = (limit: number): Diagnostic => ({
  kind: 'problem',
  reason: 'over-budget',
  detail: `the remote has its ${limit} sets (-max-remote-sets), and gets no other`,
});
/** Where neither a flag nor a set names the domain. */
const NO_LABELLED_POD: Diagnostic = {
  kind: 'expected',
  reason: 'no-labelled-pod',
  detail: `no Pod carries ${labelDomains.map(nameLabel).join(' or ')}: the first that does decides which domain counts`,
};

// It is looked for only before the domain is settled, so it is no problem by the metric: that would never end.
function otherDomain({ domain, overlooked }: DomainChoice): Diagnostic {
  const detail = `Pods in no set because they carry only the name label of another domain: ${overlooked}. ${domain} is used; give -label-domain to use the other`;
  return { kind: 'expected', reason: 'other-label-domain', detail };
}

const olderSet = (name: string): Diagnostic => ({
  kind: 'problem',
  reason: 'first-release',
  detail: `${name} has labels that are not ours, and stays as it is`,
});
