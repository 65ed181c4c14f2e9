import { type Diagnostic, Watched } from '@kube-semaphore/multicluster';
import type { Change, ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { serviceKind } from '@kube-semaphore/kube-objects';
import { isDeepStrictEqual } from 'node:util';
import { readService, type ServiceRules } from '../../endpoints/remote/read-service.ts';
import type { SliceRules } from '../../endpoints/remote/read-slice.ts';
import { type SourceService, type SourceSlice } from '../../endpoints/desired/source.ts';
import type { ServiceView } from '../../endpoints/desired/target.ts';
import { skippedIn, SliceSource, type SliceSourceOptions, type StoredSlice } from '../../endpoints/remote/slices.ts';
import {
  asYoungest,
  guardOf,
  nameOf,
  readTooLarge,
  watchSettings,
  type Stored,
} from '../../endpoints/remote/stored.ts';
import type { WatcherMetrics } from '../../metrics/watchers.ts';
import { UnlabelledSlices } from './unlabelled-slices.ts';

/** What a cluster had before the process started, as our local objects show. */
export type Seed = { readonly services: readonly SourceService[]; readonly slices: readonly SourceSlice[] };

type WatchName = 'services' | 'slices';

export type ServiceSourceOptions = Pick<SliceSourceOptions, 'client' | 'options' | 'budget'> & {
  /** Of Services, and of EndpointSlices: Kubernetes copies the labels of a Service to its slices, if it has a selector. */
  readonly selector: string;
  readonly rules: ServiceRules & SliceRules;
  /** @param until ends a watch that begins after the others; undefined: it never ends */
  readonly hooks: (watch: WatchName, until?: AbortSignal) => ReflectorHooks;
  /** The first Service was listed: the selector is right, and so is the cluster. */
  readonly onFirstService: () => void;
  /** A Service was added, changed or removed. */
  readonly onService: (service: SourceService, change: { readonly isRemoved: boolean }) => void;
  /** Slices of a Service changed. */
  readonly onSlices: (service: { readonly namespace: string; readonly name: string }) => void;
  /** Of Services, and of slices that the selector finds. */
  readonly counts: Readonly<Record<WatchName, Pick<WatcherMetrics, 'changed'>>>;
  /** Whether its Services take part in global ones. */
  readonly isGlobal: boolean;
  /** What is skipped of an object (`service ns/name`, `slice ns/name`) from now on. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/** A Service, by its names. */
type Name = { readonly namespace: string; readonly name: string };

/** The Services of one cluster that a selector finds, with their EndpointSlices. */
export class ServiceSource {
  readonly #options: ServiceSourceOptions;
  readonly #services: Watched<typeof serviceKind, Stored<SourceService>>;
  /** Those that the selector finds. */
  readonly #slices: SliceSource;
  /** Those of Services without a selector, whatever their labels are. */
  readonly #unlabelled: UnlabelledSlices;
  /** The keys of these Services. */
  readonly #withoutSelector = new Set<string>();
  /** How many Services the cluster had before the process started. */
  #seeded = 0;
  /** The slices that it had then, until Services are listed. */
  #seededSlices: readonly SourceSlice[] = [];
  /** Whether a list showed a Service. */
  #seen = false;
  #findsUnlabelled = false;
  /** What is known of the Services of global ones, until it changes: of hundreds of clusters, one changes at a time. */
  readonly #views = new Map<string, ServiceView>();

  constructor(source: ServiceSourceOptions) {
    const { client, selector, rules, options, budget, counts, onSkipped, onSlices } = source;
    this.#options = source;
    const common = { client, rules, options, budget };
    const hooks = source.hooks('services');
    this.#services = new Watched<typeof serviceKind, Stored<SourceService>>({
      client,
      kind: serviceKind,
      labelSelector: selector,
      project: (service) => ({ uid: service.metadata.uid, ...readService(service, rules) }),
      projectTooLarge: readTooLarge,
      equal: isSame,
      onChange: (change) => this.#serviceChanged(change),
      holding: {
        guard: guardOf({ options }),
        hold: asYoungest,
        claims: () => [],
        withoutClaim: () => undefined,
      },
      ...watchSettings({ options, budget }),
      hooks: {
        ...hooks,
        onSynced: () => {
          this.#adjust();
          hooks.onSynced?.();
        },
      },
    });
    this.#slices = new SliceSource({
      ...common,
      labelSelector: selector,
      hooks: source.hooks('slices'),
      onChange: ({ key, previous, current }, services) => {
        onSkipped(`slice ${key}`, current?.skipped ?? []);
        counts.slices.changed({ previous, current }, this.#slices.size);
        for (const service of services) {
          this.#views.delete(keyOf(service));
          onSlices(service);
        }
      },
    });
    this.#unlabelled = new UnlabelledSlices({
      ...common,
      hooks: (until) => this.#hooksOfUnlabelled(until),
      onChange: (change, services) => this.#unlabelledChanged(change, services),
    });
  }

  /** Whether Services, and the slices that the selector finds, are listed. */
  get listed(): boolean {
    return this.#services.synced && this.#slices.synced;
  }

  /** Whether everything is listed, also slices of Services without a selector. */
  get synced(): boolean {
    return this.listed && (!this.#needsUnlabelled || this.#unlabelled.synced);
  }

  /**
   * How many Services were seeded, while no list has shown a Service; 0 otherwise. A cluster that lost its last Service
   * looks like this. So do a wrong selector, another cluster's kubeconfig and a restored etcd, where it would be wrong to
   * delete every mirror.
   */
  get unconfirmed(): number {
    return this.#seen ? 0 : this.#seeded;
  }

  /** How many Services the selector finds; held ones don't count. */
  get matching(): number {
    return this.#seen ? this.#services.size - this.#services.held : 0;
  }

  /** Milliseconds since the most silent of its watches was active. */
  get silentMs(): number {
    return Math.max(this.#services.silentMs, this.#slices.silentMs, this.#unlabelled.silentMs);
  }

  /** How many Services and slices are held. */
  get held(): number {
    return this.#services.held + this.#slices.held + this.#unlabelled.held;
  }

  /**
   * What is known of a Service now. It can be decided about if all its slices are listed, and a Service confirms the selector. If
   * it is global, it is the same object until something changes.
   */
  view(namespace: string, name: string): ServiceView {
    if (!this.#options.isGlobal) return this.#view(namespace, name);
    const key = keyOf({ namespace, name });
    const before = this.#views.get(key);
    if (before?.known === this.#knows(before?.service)) return before;
    const service = this.service(namespace, name);
    if (service === undefined) return this.#knows(service) ? NO_SERVICE : NOT_KNOWN;
    const view = this.#view(namespace, name);
    this.#views.set(key, view);
    return view;
  }

  #view(namespace: string, name: string): ServiceView {
    const service = this.service(namespace, name);
    const known = this.#knows(service);
    const ofSelector = this.#slices.slices(namespace, name);
    // One that gets other labels is in both watches, or for a moment in one.
    const others = this.#unlabelled.slices(namespace, name).filter((slice) => !this.#slices.has(slice));
    if (service?.hasSelector !== false) {
      const isFound = this.#findsUnlabelled && service !== undefined;
      return { known, service, slices: valuesOf(ofSelector), skipped: isFound ? others.map(unlabelled) : [] };
    }
    return {
      known,
      service,
      slices: valuesOf([...ofSelector, ...others]),
      skipped: others.flatMap(skippedIn),
    };
  }

  /** Whether a Service can be decided about; undefined: one that isn't there. */
  #knows(service: SourceService | undefined): boolean {
    const isListed = this.listed && this.unconfirmed === 0;
    return isListed && (service?.hasSelector !== false || this.#unlabelled.synced);
  }

  service(namespace: string, name: string): SourceService | undefined {
    return this.#services.get(`${namespace}/${name}`)?.value;
  }

  /** All Services, in no order. */
  services(): readonly SourceService[] {
    return this.#services.values().flatMap(({ value }) => value ?? []);
  }

  /** Measures the first lists against a seed, for each use. */
  seed({ services, slices }: Seed): void {
    this.#seeded += services.length;
    this.#seededSlices = [...this.#seededSlices, ...slices];
    for (const value of services)
      this.#services.seed(`${value.namespace}/${value.name}`, { uid: '', value, skipped: [] });
    this.#slices.seed(slices);
  }

  /** Also skips, with a reason, slices that lack the labels of their Service although it has a selector. To be called before `run`. */
  findUnlabelled(): void {
    this.#findsUnlabelled = true;
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all([this.#unlabelled, this.#services, this.#slices].map((watch) => watch.run({ signal })));
  }

  #serviceChanged({ key, previous, current }: Change<Stored<SourceService>>): void {
    const { counts, onSkipped, onService } = this.#options;
    this.#views.delete(key);
    onSkipped(`service ${key}`, current?.skipped ?? []);
    counts.services.changed({ previous, current }, this.#services.size);
    this.#see(current);
    if (current?.value?.hasSelector === false) this.#withoutSelector.add(key);
    else this.#withoutSelector.delete(key);
    this.#adjust();
    const service = current?.value ?? previous?.value;
    if (service !== undefined) onService(service, { isRemoved: current?.value === undefined });
  }

  /** A seeded Service has no UID, and wasn't seen. */
  #see(current: Stored<SourceService> | undefined): void {
    if (this.#seen || current === undefined || current.uid === '') return;
    this.#seen = true;
    this.#options.onFirstService();
  }

  /** Watches unlabelled slices while a Service needs them. Before the first list, nothing is known of seeded Services. */
  #adjust(): void {
    if (!this.#services.synced) return;
    const moved = this.#seededSlices.filter(({ namespace, service }) => this.#lacksSelector(namespace, service));
    this.#seededSlices = [];
    this.#slices.unseed(moved);
    this.#unlabelled.setNeeded(this.#needsUnlabelled, moved);
  }

  get #needsUnlabelled(): boolean {
    return this.#findsUnlabelled || this.#withoutSelector.size > 0;
  }

  /** Whether a list showed that a Service has no selector. */
  #lacksSelector(namespace: string, name: string): boolean {
    const service = this.service(namespace, name);
    return service?.hasSelector === false && service.uid !== '';
  }

  #hooksOfUnlabelled(until: AbortSignal): ReflectorHooks {
    const hooks = this.#options.hooks('slices', until);
    let isFirst = true;
    return {
      ...hooks,
      onSynced: () => {
        if (isFirst) for (const key of this.#withoutSelector) this.#options.onSlices(nameOf(key));
        isFirst = false;
        hooks.onSynced?.();
      },
    };
  }

  #unlabelledChanged({ key, current }: Change<StoredSlice>, services: readonly Name[]): void {
    const { onSkipped, onSlices } = this.#options;
    for (const service of services) this.#views.delete(keyOf(service));
    // Others are in the view of their Service.
    onSkipped(`unlabelled slice ${key}`, current?.service === '' ? current.skipped : []);
    for (const service of services)
      if (this.service(service.namespace, service.name)?.hasSelector === false) onSlices(service);
  }
}

const keyOf = ({ namespace, name }: Name): string => `${namespace}/${name}`;

const NO_SERVICE: ServiceView = { known: true, service: undefined, slices: [], skipped: [] };
const NOT_KNOWN: ServiceView = { ...NO_SERVICE, known: false };

const unlabelled = ({ namespace, name }: StoredSlice): Diagnostic => ({
  kind: 'problem',
  reason: 'slice-unlabelled',
  detail: `its slice ${namespace}/${name} lacks the labels of the Service, which has a selector`,
});

const valuesOf = (slices: readonly StoredSlice[]): readonly SourceSlice[] => slices.flatMap(({ value }) => value ?? []);

/** A mirror doesn't depend on UIDs and versions. */
function isSame<T>(a: Stored<T>, b: Stored<T>): boolean {
  return isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.skipped, b.skipped);
}
