import type { Diagnostic } from '@kube-semaphore/multicluster';
import {
  type DeletionGuard,
  Reflector,
  type ReflectorHooks,
  type RemoteBudget,
  Store,
} from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { endpointSliceKind, serviceKind, type TooLarge } from '@kube-semaphore/kube-objects';
import { isDeepStrictEqual } from 'node:util';
import { readService, type ServiceRules } from './read-service.ts';
import { readSlice, type SliceRules } from './read-slice.ts';
import type { Reading, SourceService, SourceSlice } from '../desired/source.ts';

type Stored<T> = Reading<T> & { readonly uid: string };

export type ServiceSourceOptions = {
  readonly client: KubeClient;
  /** Of Services, and of EndpointSlices, which carry their Service's labels. */
  readonly selector: string;
  readonly rules: ServiceRules & SliceRules;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  /** Undefined for the local cluster. */
  readonly budget: RemoteBudget | undefined;
  readonly guard: DeletionGuard;
  readonly holdMs: number;
  /** What a watch's ups and downs are told to. */
  readonly hooks: (watch: 'services' | 'slices') => ReflectorHooks;
  /** A Service was listed, the first since the start: the selector is right, and so is the cluster. */
  readonly onFirstService: () => void;
  /** A Service came, changed or went; both undefined are never. */
  readonly onService: (change: {
    readonly previous: SourceService | undefined;
    readonly current: SourceService | undefined;
  }) => void;
  /** Slices of a Service changed. */
  readonly onSlices: (namespace: string, service: string) => void;
  /** An object came, changed or went, and so many are there now. */
  readonly onObject: (
    watch: 'services' | 'slices',
    change: { readonly previous: unknown; readonly current: unknown },
    size: number,
  ) => void;
  /** What is left out of an object (`service ns/name`, `slice ns/name`) from now on. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/** The Services of one cluster that a selector finds, with their EndpointSlices. */
export class ServiceSource {
  readonly #options: ServiceSourceOptions;
  readonly #services: Store<Stored<SourceService>>;
  readonly #slices: Store<Stored<SourceSlice>>;
  /** Services that must have existed before we started, as our local objects show. */
  #seeded = 0;
  #seen = false;
  readonly #slicesOf = new Map<string, Map<string, SourceSlice>>();
  readonly #reflectors: readonly [
    Reflector<typeof serviceKind, Stored<SourceService>>,
    Reflector<typeof endpointSliceKind, Stored<SourceSlice>>,
  ];

  constructor(options: ServiceSourceOptions) {
    this.#options = options;
    const { rules, guard } = options;
    this.#services = new Store<Stored<SourceService>>({
      equal: isSame,
      onChange: ({ key, previous, current }) => {
        options.onSkipped(`service ${key}`, current?.skipped ?? []);
        options.onObject('services', { previous, current }, this.#services.size);
        this.#see(current);
        if (previous?.value !== undefined || current?.value !== undefined)
          options.onService({ previous: previous?.value, current: current?.value });
      },
      holding: { guard, hold: asYoungest, claims: () => [], withoutClaim: () => undefined },
    });
    this.#slices = new Store<Stored<SourceSlice>>({
      equal: isSame,
      onChange: ({ key, previous, current }) => {
        options.onSkipped(`slice ${key}`, current?.skipped ?? []);
        options.onObject('slices', { previous, current }, this.#slices.size);
        this.#moveSlice(key, previous?.value, current?.value);
      },
      holding: {
        guard,
        hold: (slice) => slice,
        claims: ({ value }) => value?.endpoints.flatMap(({ addresses }) => addresses) ?? [],
        withoutClaim,
      },
    });
    const common = (watch: 'services' | 'slices') => {
      const { client, selector, idleTimeoutMs, pollIntervalMs, budget, holdMs, hooks } = options;
      return {
        client,
        labelSelector: selector,
        watchList: 'auto',
        projectTooLarge: readTooLarge,
        ...(budget !== undefined && { budget }),
        idleTimeoutMs,
        pollIntervalMs,
        holdMs,
        hooks: hooks(watch),
      } as const;
    };
    this.#reflectors = [
      new Reflector({
        ...common('services'),
        kind: serviceKind,
        store: this.#services,
        project: (service) => ({ uid: service.metadata.uid, ...readService(service, rules) }),
      }),
      new Reflector({
        ...common('slices'),
        kind: endpointSliceKind,
        store: this.#slices,
        project: (slice) => ({ uid: slice.metadata.uid, ...readSlice(slice, rules) }),
      }),
    ];
  }

  /** Whether both are known. */
  get synced(): boolean {
    return this.#services.view.synced && this.#slices.view.synced;
  }

  /** Whether what is there can be decided about: both are known, and it isn't held for want of a Service. */
  get known(): boolean {
    return this.synced && this.heldForWantOfServices === 0;
  }

  /**
   * How many Services there must have been before we started, where no list has shown one since; 0 otherwise. A cluster
   * that lost its last Service looks like this, and so does a wrong selector, another cluster's kubeconfig, or a restored
   * etcd; taking every mirror away would be right for the first only.
   */
  get heldForWantOfServices(): number {
    return this.#seen ? 0 : this.#seeded;
  }

  /** How many Services the selector finds; what a list lacked and is held doesn't count. */
  get matching(): number {
    return this.#seen ? this.#services.size - this.#services.held : 0;
  }

  /** Milliseconds since the watch that is silent for longer last stirred. */
  get silentMs(): number {
    return Math.max(...this.#reflectors.map(({ silentMs }) => silentMs));
  }

  /** How many Services and slices a list lacked that isn't believed yet. */
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
    return [...(this.#slicesOf.get(`${namespace}/${service}`)?.values() ?? [])];
  }

  /** What must have existed before we started, as our local objects show: the first lists are measured against it. */
  seed({
    services,
    slices,
  }: {
    readonly services: readonly SourceService[];
    readonly slices: readonly SourceSlice[];
  }): void {
    this.#seeded = services.length;
    for (const value of services)
      this.#services.seed(`${value.namespace}/${value.name}`, { uid: '', value, skipped: [] });
    for (const value of slices) this.#slices.seed(`${value.namespace}/${value.name}`, { uid: '', value, skipped: [] });
  }

  /** Watches until `signal` is aborted; once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run({ signal })));
  }

  /** What only our own objects tell of has no UID, and hasn't been seen. */
  #see(current: Stored<SourceService> | undefined): void {
    if (this.#seen || current === undefined || current.uid === '') return;
    this.#seen = true;
    this.#options.onFirstService();
  }

  #moveSlice(key: string, previous: SourceSlice | undefined, current: SourceSlice | undefined): void {
    if (previous !== undefined) {
      const slices = this.#slicesOf.get(serviceOf(previous));
      slices?.delete(key);
      if (slices?.size === 0) this.#slicesOf.delete(serviceOf(previous));
    }
    if (current !== undefined) {
      const slices = this.#slicesOf.get(serviceOf(current)) ?? new Map<string, SourceSlice>();
      this.#slicesOf.set(serviceOf(current), slices.set(key, current));
    }
    const { onSlices } = this.#options;
    if (previous !== undefined) onSlices(previous.namespace, previous.service);
    if (current !== undefined && current.service !== previous?.service) onSlices(current.namespace, current.service);
  }
}

function readTooLarge({ metadata, tooLarge: detail }: TooLarge): Stored<never> {
  return { uid: metadata.uid, value: undefined, skipped: [{ kind: 'problem', reason: 'too-large', detail }] };
}

const serviceOf = ({ namespace, service }: SourceSlice): string => `${namespace}/${service}`;

/** UIDs and versions are nothing to a mirror. */
function isSame<T>(a: Stored<T>, b: Stored<T>): boolean {
  return isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.skipped, b.skipped);
}

/** What a list lacked loses every conflict against what it shows, and those go by age. */
function asYoungest(stored: Stored<SourceService>): Stored<SourceService> {
  return stored.value === undefined ? stored : { ...stored, value: { ...stored.value, createdAt: Infinity } };
}

/** What is left of a held slice when another slice has one of its addresses. */
function withoutClaim(stored: Stored<SourceSlice>, address: string): Stored<SourceSlice> | undefined {
  if (stored.value === undefined) return undefined;
  const endpoints = stored.value.endpoints.filter(({ addresses }) => !addresses.includes(address));
  return endpoints.length === 0 ? undefined : { ...stored, value: { ...stored.value, endpoints } };
}
