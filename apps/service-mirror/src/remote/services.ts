import { type Diagnostic, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import { Reflector, type ReflectorHooks, type RemoteBudget, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import { isDeepStrictEqual } from 'node:util';
import { readService, type ServiceRules } from './read/service.ts';
import { readSlice, type SliceRules } from './read/slice.ts';
import type { MirrorOptions } from '../config/options.ts';
import { SliceIndex } from '../desired/slice-index.ts';
import { type SourceService, type SourceSlice } from '../desired/source.ts';
import { asYoungest, heldSlices, readTooLarge, type Stored } from './stored.ts';

/** What a cluster had before the process started, as our local objects show. */
export type Seed = { readonly services: readonly SourceService[]; readonly slices: readonly SourceSlice[] };

type WatchName = 'services' | 'slices';

export type ServiceSourceOptions = {
  readonly client: KubeClient;
  /** Of Services, and of EndpointSlices, which carry their Service's labels. */
  readonly selector: string;
  readonly rules: ServiceRules & SliceRules;
  readonly options: Pick<
    MirrorOptions,
    'watchIdleTimeoutMs' | 'deletionGuardHoldMs' | 'deletionGuardMin' | 'deletionGuardPercent'
  >;
  /** Undefined for the local cluster. */
  readonly budget: RemoteBudget | undefined;
  readonly hooks: (watch: WatchName) => ReflectorHooks;
  /** The first Service was listed: the selector is right, and so is the cluster. */
  readonly onFirstService: () => void;
  /** A Service was added, changed or removed. */
  readonly onService: (service: SourceService, change: { readonly isRemoved: boolean }) => void;
  /** Slices of a Service changed. */
  readonly onSlices: (service: { readonly namespace: string; readonly name: string }) => void;
  /** An object was added, changed or removed. @param size how many there are now */
  readonly onObject: (
    watch: WatchName,
    change: { readonly previous: unknown; readonly current: unknown },
    size: number,
  ) => void;
  /** What is skipped of an object (`service ns/name`, `slice ns/name`) from now on. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/** The Services of one cluster that a selector finds, with their EndpointSlices. */
export class ServiceSource {
  readonly #options: ServiceSourceOptions;
  readonly #services: Store<Stored<SourceService>>;
  readonly #slices: Store<Stored<SourceSlice>>;
  /** How many Services the cluster had before the process started. */
  #seeded = 0;
  /** Whether a list showed a Service. */
  #seen = false;
  readonly #slicesByService = new SliceIndex<SourceSlice>(({ namespace, service }) => `${namespace}/${service}`);
  readonly #reflectors: readonly [
    Reflector<typeof serviceKind, Stored<SourceService>>,
    Reflector<typeof endpointSliceKind, Stored<SourceSlice>>,
  ];

  constructor(source: ServiceSourceOptions) {
    const { rules, onSkipped, onObject, onService, onSlices } = source;
    const { deletionGuardPercent: percent, deletionGuardMin: min } = source.options;
    const guard = { percent, min };
    this.#options = source;
    this.#services = new Store<Stored<SourceService>>({
      equal: isSame,
      onChange: ({ key, previous, current }) => {
        onSkipped(`service ${key}`, current?.skipped ?? []);
        onObject('services', { previous, current }, this.#services.size);
        this.#see(current);
        const service = current?.value ?? previous?.value;
        if (service !== undefined) onService(service, { isRemoved: current?.value === undefined });
      },
      holding: { guard, hold: asYoungest, claims: () => [], withoutClaim: () => undefined },
    });
    this.#slices = new Store<Stored<SourceSlice>>({
      equal: isSame,
      onChange: ({ key, previous, current }) => {
        onSkipped(`slice ${key}`, current?.skipped ?? []);
        onObject('slices', { previous, current }, this.#slices.size);
        const moved = this.#slicesByService.move({ key, previous: previous?.value, current: current?.value });
        for (const service of moved) {
          const [namespace = '', name = ''] = service.split('/');
          onSlices({ namespace, name });
        }
      },
      holding: { guard, ...heldSlices },
    });
    this.#reflectors = [
      new Reflector({
        ...this.#common('services'),
        kind: serviceKind,
        store: this.#services,
        project: (service) => ({ uid: service.metadata.uid, ...readService(service, rules) }),
      }),
      new Reflector({
        ...this.#common('slices'),
        kind: endpointSliceKind,
        store: this.#slices,
        project: (slice, known) => ({
          uid: slice.metadata.uid,
          ...readSlice(slice, rules, known?.value?.endpoints),
        }),
      }),
    ];
  }

  /** Whether Services and slices are both listed. */
  get synced(): boolean {
    return this.#services.view.synced && this.#slices.view.synced;
  }

  /** Whether its objects can be decided about: both are listed, and a Service confirms the selector. */
  get known(): boolean {
    return this.synced && this.unconfirmed === 0;
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

  /** Milliseconds since the more silent of the two watches was active. */
  get silentMs(): number {
    return Math.max(...this.#reflectors.map(({ silentMs }) => silentMs));
  }

  /** How many Services and slices are held. */
  get held(): number {
    return this.#services.held + this.#slices.held;
  }

  service(namespace: string, name: string): SourceService | undefined {
    const { view } = this.#services;
    return view.synced ? view.objects.get(`${namespace}/${name}`)?.value : undefined;
  }

  /** All Services, in no order. */
  services(): readonly SourceService[] {
    const { view } = this.#services;
    return view.synced ? [...view.objects.values()].flatMap(({ value }) => value ?? []) : [];
  }

  /** The slices of a Service, in no order. */
  slices(namespace: string, service: string): readonly SourceSlice[] {
    return this.#slicesByService.slices(`${namespace}/${service}`);
  }

  /** Measures the first lists against a seed. */
  seed({ services, slices }: Seed): void {
    this.#seeded = services.length;
    const stored = <T>(value: T): Stored<T> => ({ uid: '', value, skipped: [] });
    for (const value of services) this.#services.seed(`${value.namespace}/${value.name}`, stored(value));
    for (const value of slices) this.#slices.seed(`${value.namespace}/${value.name}`, stored(value));
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run({ signal })));
  }

  /** A seeded Service has no UID, and wasn't seen. */
  #see(current: Stored<SourceService> | undefined): void {
    if (this.#seen || current === undefined || current.uid === '') return;
    this.#seen = true;
    this.#options.onFirstService();
  }

  #common(watch: WatchName) {
    const { client, selector, options, budget, hooks } = this.#options;
    return {
      client,
      labelSelector: selector,
      watchList: 'auto',
      projectTooLarge: readTooLarge,
      ...(budget !== undefined && { budget }),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      holdMs: options.deletionGuardHoldMs,
      hooks: hooks(watch),
    } as const;
  }
}

/** A mirror doesn't depend on UIDs and versions. */
function isSame<T>(a: Stored<T>, b: Stored<T>): boolean {
  return isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.skipped, b.skipped);
}
