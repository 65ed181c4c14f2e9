import { type Diagnostic, POLL_INTERVAL_MS, remoteBudget, RemoteState } from '@kube-semaphore/multicluster';
import type { ReflectorHooks, RemoteBudget } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { MirrorMetrics } from '../metrics/metrics.ts';
import type { MirrorOptions } from '../config/options.ts';
import { ServiceSource, type ServiceSourceOptions } from './services.ts';
import type { SourceService, SourceSlice } from '../desired/source.ts';
import { type Watcher, WatcherMetrics } from '../metrics/watchers.ts';

/** What the Services that a selector finds are for. */
export type Use = 'mirror' | 'global';

export type SourceClusterOptions = {
  readonly cluster: string;
  readonly client: KubeClient;
  readonly options: MirrorOptions;
  readonly rules: ServiceSourceOptions['rules'];
  /** Which Services are for what; the same selector twice is one watch. */
  readonly selectors: Partial<Readonly<Record<Use, string>>>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** A Service that is for these uses came, changed or went. */
  readonly onService: (
    uses: readonly Use[],
    change: { readonly previous: SourceService | undefined; readonly current: SourceService | undefined },
  ) => void;
  readonly onSlices: (uses: readonly Use[], namespace: string, service: string) => void;
  /** Its first lists are complete: whatever depends on it can be decided. */
  readonly onKnown: () => void;
  /** What they lacked is believed to be gone. */
  readonly onSettled: () => void;
  /** Hears of each event, for the metrics that the Go program had. */
  readonly hooks?: (watch: 'services' | 'slices', uses: readonly Use[]) => ReflectorHooks;
};

/** A cluster whose Services are mirrored, merged, or both. */
export class SourceCluster {
  readonly cluster: string;
  readonly #options: SourceClusterOptions;
  readonly #state: RemoteState;
  /** What is in our own cluster is our own affair. */
  readonly #budget: RemoteBudget | undefined;
  readonly #sources: readonly {
    readonly selector: string;
    readonly uses: readonly Use[];
    readonly source: ServiceSource;
  }[];
  readonly #firstSync = Promise.withResolvers<void>();
  #settling: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(options: SourceClusterOptions) {
    const { cluster, metrics, log } = options;
    this.#options = options;
    this.cluster = cluster;
    this.#state = new RemoteState({
      cluster,
      metrics,
      log,
      holdMs: options.options.deletionGuardHoldMs,
      onFirstSync: () => this.#listed(),
    });
    this.#budget = options.rules.isLocal ? undefined : remoteBudget(options.options);
    this.#sources = usesBySelector(options.selectors).map(([selector, uses]) => ({
      selector,
      uses,
      source: this.#source(selector, uses),
    }));
  }

  get synced(): boolean {
    return this.#sources.every(({ source }) => source.synced);
  }

  /**
   * Whether what its first lists lacked is believed to be gone: `-deletion-guard-hold` after them. Until then what a Go
   * program left stays where nothing takes its place, for it can't be measured like our own.
   */
  get settled(): boolean {
    return this.#settled;
  }

  /** Resolves when its first lists are complete, or aren't allowed and done without. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Milliseconds since its most silent watch last stirred. */
  get silentMs(): number {
    return Math.max(0, ...this.#sources.map(({ source }) => source.silentMs));
  }

  /** Whether all of its watches answered last time. */
  get isUp(): boolean {
    return this.#state.watches.isUp;
  }

  /** Why it isn't reached, in words; as of `ClusterWatches`. */
  get failure(): string | undefined {
    return this.#state.watches.failure;
  }

  /** Whether we may not see it, and do without: it is the local one, and a Role in one namespace is all that we have. */
  get isLeftOut(): boolean {
    return this.#state.watches.isForbidden;
  }

  /** Milliseconds since it last confirmed what is known of it; Infinity before. */
  get unseenMs(): number {
    return this.#state.watches.unseenMs;
  }

  /** How many Services and slices a list lacked that isn't believed yet. */
  get held(): number {
    return this.#sources.reduce((sum, { source }) => sum + source.held, 0);
  }

  /** What is left out of it now. */
  get skipped(): ReturnType<RemoteState['skips']['all']> {
    return this.#state.skips.all();
  }

  /** The selectors that find no Service of it. */
  get unmatched(): readonly string[] {
    return this.#sources.filter(({ source }) => source.matching === 0).map(({ selector }) => selector);
  }

  /** Its Services for a use; undefined if it has none for that. */
  source(use: Use): ServiceSource | undefined {
    return this.#sources.find(({ uses }) => uses.includes(use))?.source;
  }

  /** What must have existed before we started, as our local objects show. */
  seed(
    use: Use,
    found: { readonly services: readonly SourceService[]; readonly slices: readonly SourceSlice[] },
  ): void {
    this.source(use)?.seed(found);
  }

  /** What is worth knowing about a key from now on, as far as this cluster is concerned. */
  notice(key: string, diagnostics: readonly Diagnostic[]): void {
    this.#state.skips.replace(key, diagnostics);
  }

  /** Watches until `signal` is aborted; once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(this.#sources.map(({ source }) => source.run({ signal })));
    clearTimeout(this.#settling);
  }

  #source(selector: string, uses: readonly Use[]): ServiceSource {
    const { client, options, rules, onService, onSlices, hooks } = this.#options;
    const subject = uses.join('+');
    const { cluster, metrics } = this.#options;
    const counts = {
      services: new WatcherMetrics(
        metrics,
        uses.map((use) => ({ watcher: `${cluster}-serviceWatcher`, kind: 'service', runner: `${use}-${cluster}` })),
      ),
      slices: new WatcherMetrics(
        metrics,
        uses.map((use) => slicesWatcher(use, cluster)),
      ),
    };
    return new ServiceSource({
      client,
      selector,
      rules,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      budget: this.#budget,
      guard: { percent: options.deletionGuardPercent, min: options.deletionGuardMin },
      holdMs: options.deletionGuardHoldMs,
      hooks: (watch) =>
        merged(
          this.#state.watches.hooks(rules.isLocal ? { whenForbidden: LEFT_OUT[watch] } : {}),
          hooks?.(watch, uses) ?? {},
          { onSynced: () => this.#countHeld(), onRestart: () => this.#passOver() },
        ),
      onFirstService: () => this.#firstService(selector),
      onService: (change) => {
        this.#countHeld();
        onService(uses, change);
      },
      onSlices: (namespace, service) => onSlices(uses, namespace, service),
      onObject: (watch, change, size) => counts[watch].changed(change, size),
      // A Service that two selectors find is left out twice, and told of once for each.
      onSkipped: (what, skipped) => this.#state.skips.replace(`${subject} ${what}`, skipped),
    });
  }

  #listed(): void {
    const services = this.#sources.map(({ source }) => source.services().length).reduce((sum, count) => sum + count, 0);
    this.#state.listed('services listed', { services }, this.held);
    for (const { selector, source } of this.#sources)
      this.#state.skips.replace(
        unmatched(selector),
        source.heldForWantOfServices === 0 ? [] : [noServiceMatches(selector, source.heldForWantOfServices)],
      );
    this.#firstSync.resolve();
    this.#settle();
    this.#options.onKnown();
  }

  /** With a Service to show that the selector is right, what else was held can be decided. */
  #firstService(selector: string): void {
    this.#state.skips.replace(unmatched(selector), []);
    if (this.synced) this.#options.onKnown();
  }

  #passOver(): void {
    if (this.isLeftOut) this.#firstSync.resolve();
  }

  #settle(): void {
    const { options, onSettled } = this.#options;
    this.#settled = options.deletionGuardPercent === 100;
    if (this.#settled) return;
    this.#settling = setTimeout(() => {
      this.#settled = true;
      onSettled();
    }, options.deletionGuardHoldMs);
  }

  #countHeld(): void {
    this.#state.setHeld(this.synced ? this.held : undefined);
  }
}

/** What is said where the local cluster may not be seen beyond the mirror namespace: the Go program's Role was for that alone. */
const LEFT_OUT = {
  services:
    'Services of all namespaces may not be listed: the local cluster has no part in global services until a ClusterRole allows it',
  slices:
    'EndpointSlices of all namespaces may not be listed: the local cluster has no part in global services until a ClusterRole allows it',
} as const;

/** What the register calls a selector as a whole. */
const unmatched = (selector: string): string => `selector ${selector}`;

function noServiceMatches(selector: string, before: number): Diagnostic {
  const detail = `no Service matches ${selector}, and ${before} of ours are of it: nothing of them is deleted before one does. Is the selector right, and the cluster?`;
  return { kind: 'problem', reason: 'no-service-matches', detail };
}

/** Where the Go program watched Endpoints, we watch slices. */
function slicesWatcher(use: Use, cluster: string): Watcher {
  const runner = `${use}-${cluster}`;
  return use === 'mirror'
    ? { watcher: `${cluster}-endpointsWatcher`, kind: 'endpoints', runner }
    : { watcher: `${cluster}-endpointSliceWatcher`, kind: 'endpointslice', runner };
}

function usesBySelector({
  mirror,
  global,
}: SourceClusterOptions['selectors']): readonly (readonly [string, readonly Use[]])[] {
  if (mirror !== undefined && mirror === global) return [[mirror, ['mirror', 'global']]];
  return [
    ...(mirror === undefined ? [] : [[mirror, ['mirror']] as const]),
    ...(global === undefined ? [] : [[global, ['global']] as const]),
  ];
}

/** Hooks that are called one after the other. */
function merged(...all: readonly ReflectorHooks[]): ReflectorHooks {
  const each =
    <K extends keyof ReflectorHooks>(name: K) =>
    (...args: Parameters<NonNullable<ReflectorHooks[K]>>): void => {
      for (const hooks of all) (hooks[name] as ((...given: typeof args) => void) | undefined)?.(...args);
    };
  return {
    onSynced: each('onSynced'),
    onUp: each('onUp'),
    onConfirmed: each('onConfirmed'),
    onRestart: each('onRestart'),
    onWatchForbidden: each('onWatchForbidden'),
  };
}
