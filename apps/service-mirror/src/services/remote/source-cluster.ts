import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Diagnostic,
  remoteBudget,
  type RemoteState,
  type RemoteStatus,
  reportRestriction,
} from '@kube-semaphore/multicluster';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { AddressRules } from '@kube-semaphore/net';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import type { MirrorOptions } from '../../config/options.ts';
import type { RemoteSettings } from '../../config/settings.ts';
import type { Decisions } from '../../endpoints/decisions.ts';
import type { Part } from '../../endpoints/desired/merged/decision.ts';
import type { Stale } from '../../endpoints/desired/merged/stale-endpoints.ts';
import type { RemotePlan } from '../../plan.ts';
import type { ServiceRules } from '../../endpoints/remote/read-service.ts';
import { keyOf, type ServiceKeys, type Use } from '../service-keys.ts';
import { type Seed, ServiceSource } from './services.ts';
import { Staleness } from './staleness.ts';
import { WatcherMetrics, watcherOf } from '../../metrics/watchers.ts';

export type SourceClusterOptions = ServiceRules & {
  readonly cluster: string;
  /** Undefined for the local cluster. */
  readonly remote: RemoteSettings | undefined;
  readonly client: KubeClient;
  readonly state: RemoteState;
  /** The addresses that it may announce. */
  readonly addresses: AddressRules;
  /** Which Services are for which use. The same selector for both is one watch. */
  readonly selectors: readonly { readonly use: Use; readonly selector: string }[];
  readonly options: MirrorOptions;
  readonly keys: ServiceKeys;
  readonly metrics: MirrorMetrics;
  readonly queue: Pick<Decisions<Part>, 'enqueue' | 'enqueueAll' | 'enqueueSlices'>;
  /** All clusters. */
  readonly clusters: { allKeys(): Iterable<string> };
  /** The remote became stale, or is no longer stale. */
  readonly onStale: (cluster: string) => void;
};

type Watch = { readonly selector: string; readonly uses: readonly Use[]; readonly source: ServiceSource };

/** A cluster whose Services are mirrored, merged into global ones, or both. */
export class SourceCluster {
  readonly cluster: string;
  readonly state: RemoteState;
  readonly #options: SourceClusterOptions;
  readonly #staleness: Staleness | undefined;
  readonly #watches: readonly Watch[];
  readonly #firstSync = Promise.withResolvers<void>();
  #settled = false;

  constructor(options: SourceClusterOptions) {
    const { cluster, remote, state, metrics, queue } = options;
    this.#options = options;
    this.cluster = cluster;
    this.state = state;
    if (remote !== undefined) {
      const { watches, log } = state;
      const onChange = (): void => {
        queue.enqueue(this.keys(), performance.now());
        options.onStale(cluster);
      };
      this.#staleness = new Staleness({ settings: remote, watches, log, onChange });
      reportRestriction({ cluster, allowed: remote.allowedPodCidrs, metrics, log });
    }
    // The local cluster's own objects have no limit.
    const budget = remote === undefined ? undefined : remoteBudget(options.options);
    const bySelector = Map.groupBy(options.selectors, ({ selector }) => selector);
    this.#watches = Array.from(bySelector, ([selector, same]): Watch => {
      const uses = same.map(({ use }) => use);
      return { selector, uses, source: this.#source(selector, uses, budget) };
    });
  }

  get synced(): boolean {
    return this.#watches.every(({ source }) => source.synced);
  }

  /**
   * Whether the first lists can be taken as complete: `-deletion-guard-hold` after them. Until then, endpoints of a Go
   * program stay where nothing replaces them, because the deletion guard can't count them.
   */
  get settled(): boolean {
    return this.#settled;
  }

  /** What happens to its endpoints in global Services now. */
  get stale(): Stale {
    return this.#staleness?.action ?? 'no';
  }

  /** Resolves when its first lists are complete, or are forbidden and not needed. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Milliseconds since its most silent watch was active. */
  get silentMs(): number {
    return Math.max(0, ...this.#watches.map(({ source }) => source.silentMs));
  }

  /** Whether nothing waits for it: it is the local cluster, and our Role is for the mirror namespace only. */
  get isForbidden(): boolean {
    return this.state.watches.isForbidden;
  }

  /** What `/status` says about it. @param mirrors how many it has */
  status(mirrors: number): RemoteStatus & { readonly stale: boolean } {
    const services = this.#watches.reduce((sum, { source }) => sum + source.matching, 0);
    return {
      ...this.state.status(this.synced ? { services, mirrors } : null),
      stale: this.#staleness?.isStale ?? false,
    };
  }

  /** As in `ServiceSource`. */
  findUnlabelled(): void {
    for (const { source } of this.#watches) source.findUnlabelled();
  }

  /** What a plan says about it, except for its mirrors. */
  plan(): Omit<RemotePlan, 'services'> {
    const { cluster, synced } = this;
    return {
      cluster,
      reached: synced,
      failure: synced ? undefined : this.state.watches.failure,
      forbidden: !synced && this.isForbidden,
      heldDeletions: synced ? this.#held : 0,
      unmatched: synced
        ? this.#watches.filter(({ source }) => source.matching === 0).map(({ selector }) => selector)
        : [],
      skipped: this.state.skipped.all(),
    };
  }

  /** Its Services for a use; undefined if it has no such use. */
  source(use: Use): ServiceSource | undefined {
    return this.#watches.find(({ uses }) => uses.includes(use))?.source;
  }

  /** The keys of all of its Services. */
  keys(): readonly string[] {
    return this.#watches.flatMap(({ uses, source }) =>
      uses.flatMap((use) => source.services().map((service) => keyOf(use, this.cluster, service))),
    );
  }

  /** Measures its first lists against what our local objects show. */
  seed(use: Use, seed: Seed): void {
    this.source(use)?.seed(seed);
  }

  /** Replaces the diagnostics of a key. */
  diagnose(key: string, diagnostics: readonly Diagnostic[]): void {
    this.state.skipped.replace(key, diagnostics);
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run(running: RunOptions): Promise<void> {
    await Promise.all([
      ...this.#watches.map(({ source }) => source.run(running)),
      this.#staleness?.run(running),
      this.#settle(running),
    ]);
  }

  #source(selector: string, uses: readonly Use[], budget: ReturnType<typeof remoteBudget> | undefined): ServiceSource {
    const { cluster, remote, client, addresses, isLocalFirst, importer, options, metrics, keys, queue } = this.#options;
    const subject = uses.join('+');
    const countsOf = (what: 'services' | 'slices'): WatcherMetrics =>
      new WatcherMetrics(
        metrics,
        uses.map((use) => watcherOf(cluster, { use, what, of: 'source' })),
      );
    const counts = { services: countsOf('services'), slices: countsOf('slices') };
    return new ServiceSource({
      client,
      selector,
      rules: {
        addresses,
        isLocal: remote === undefined,
        isLocalFirst,
        importer,
        namespaces: remote?.mirrorNamespaces,
        hasNodes: remote?.gateByTunnel === true,
      },
      options,
      budget,
      hooks: (watch, until) => this.#hooks(watch, until),
      isGlobal: uses.includes('global'),
      onFirstService: () => this.#firstService(selector),
      onService: (service, { isRemoved }) => {
        const since = performance.now();
        this.#countHeld();
        for (const use of uses)
          queue.enqueue(keys.changed(service, { cluster, use, isRemoved }), since, { cause: cluster });
      },
      onSlices: (service) =>
        queue.enqueueSlices(
          uses.map((use) => keyOf(use, cluster, service)),
          cluster,
          performance.now(),
        ),
      counts,
      // A Service that both selectors find is skipped twice, and reported for each.
      onSkipped: (object, skipped) => this.state.skipped.replace(`${subject} ${object}`, skipped),
    });
  }

  #hooks(watch: 'services' | 'slices', until: AbortSignal | undefined): ReflectorHooks {
    const isLocal = this.#options.remote === undefined;
    const hooks = this.state.watches.hooks({
      ...(isLocal && { whenForbidden: FORBIDDEN[watch] }),
      ...(until && { until }),
    });
    return {
      ...hooks,
      onSynced: () => {
        hooks.onSynced?.();
        this.#countHeld();
        if (this.synced) this.#firstSync.resolve();
      },
      onConfirmed: () => {
        hooks.onConfirmed?.();
        this.#staleness?.check();
      },
      onRestart: (restart) => {
        hooks.onRestart?.(restart);
        if (this.isForbidden) this.#firstSync.resolve();
      },
    };
  }

  /** Takes the first lists as complete, some time after they came. */
  async #settle({ signal }: RunOptions): Promise<void> {
    const { queue, clusters, options } = this.#options;
    const listed = this.state.watches.firstSync.then(() => {
      if (!signal.aborted) this.#listed();
    });
    if (!signal.aborted) await Promise.race([listed, once(signal, 'abort')]);
    if (signal.aborted || this.#settled) return;
    await delay(options.deletionGuardHoldMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    this.#settled = true;
    queue.enqueueAll(() => clusters.allKeys());
  }

  #listed(): void {
    const services = this.#watches.reduce((sum, { source }) => sum + source.services().length, 0);
    this.state.listed('services listed', { services }, this.#held);
    for (const { selector, source } of this.#watches)
      if (source.unconfirmed > 0)
        this.state.skipped.replace(subjectOf(selector), [noServiceMatches(selector, source.unconfirmed)]);
    this.#settled = this.#options.options.deletionGuardPercent === 100;
    this.#enqueueAll();
  }

  /** The selector finds a Service, so what was held for lack of one can be decided. */
  #firstService(selector: string): void {
    this.state.skipped.replace(subjectOf(selector), []);
    if (this.#watches.every(({ source }) => source.listed)) this.#enqueueAll();
  }

  /** Its own keys at once, and those of all clusters: any of them may have waited for what it has, or for a name. */
  #enqueueAll(): void {
    const { queue, clusters } = this.#options;
    const now = performance.now();
    queue.enqueue(this.keys(), now);
    queue.enqueueAll(() => clusters.allKeys(), now);
  }

  get #held(): number {
    return this.#watches.reduce((sum, { source }) => sum + source.held, 0);
  }

  #countHeld(): void {
    this.state.setHeld(this.synced ? this.#held : undefined);
  }
}

/** Messages for a local cluster that may not be listed beyond the mirror namespace: the Go program's Role was for that alone. */
const forbidden = (kind: string): string =>
  `listing ${kind} of all namespaces is forbidden: the local cluster has no part in global services until a ClusterRole allows it`;
const FORBIDDEN = { services: forbidden('Services'), slices: forbidden('EndpointSlices') };

/** The subject of diagnostics about a selector as a whole. */
const subjectOf = (selector: string): string => `selector ${selector}`;

function noServiceMatches(selector: string, before: number): Diagnostic {
  const local = `${before} local Service${before === 1 ? ' comes' : 's come'} from there`;
  const detail = `no Service matches ${selector}, but ${local}: nothing is deleted before one matches. Check selector and cluster`;
  return { kind: 'problem', reason: 'no-service-matches', detail };
}
