import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  type EndpointSlice,
  endpointSliceKind,
  endpointsKind,
  type Kind,
  type KubeObject,
  type Service,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel, serviceNameLabel, sliceManagedByLabel, sliceManager } from '../names.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../desired/observed.ts';
import { observedEndpoints, observedService, observedSlice } from './read.ts';

type Observed = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
};

export type LocalObjectsOptions = {
  readonly client: KubeClient;
  /** The mirror namespace. */
  readonly namespace: string;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly hooks: (watch: 'services' | 'slices' | 'endpoints') => ReflectorHooks;
  /** Something about a Service of this name changed. */
  readonly onChange: (name: string) => void;
  /** An object came, changed or went. */
  readonly onObject: (
    watch: 'services' | 'slices' | 'endpoints',
    change: { readonly previous: Observed | undefined; readonly current: Observed | undefined },
  ) => void;
};

/** What there is in the mirror namespace: all Services, our EndpointSlices, and the Endpoints that a Go program made. */
export class LocalObjects {
  readonly #options: LocalObjectsOptions;
  readonly #services: Store<ObservedService>;
  readonly #slices: Store<ObservedSlice>;
  readonly #endpoints: Store<ObservedEndpoints>;
  readonly #slicesOf = new Map<string, Map<string, ObservedSlice>>();
  readonly #reflectors: {
    readonly services: Reflector<typeof serviceKind, ObservedService>;
    readonly slices: Reflector<typeof endpointSliceKind, ObservedSlice>;
    readonly endpoints: Reflector<typeof endpointsKind, ObservedEndpoints>;
  };

  constructor(options: LocalObjectsOptions) {
    this.#options = options;
    this.#services = this.#store('services', (_, { previous, current }) =>
      options.onChange((current ?? previous)!.name),
    );
    this.#endpoints = this.#store('endpoints', (_, { previous, current }) =>
      options.onChange((current ?? previous)!.name),
    );
    this.#slices = this.#store('slices', (key, { previous, current }) => this.#moveSlice(key, previous, current));
    this.#reflectors = {
      services: this.#reflector('services', { kind: serviceKind, store: this.#services, project: observedService }),
      slices: this.#reflector('slices', {
        kind: endpointSliceKind,
        store: this.#slices,
        project: observedSlice,
        labelSelector: `${sliceManagedByLabel}=${sliceManager}`,
      }),
      endpoints: this.#reflector('endpoints', {
        kind: endpointsKind,
        store: this.#endpoints,
        project: observedEndpoints,
        labelSelector: `${mirroredServiceLabel}=true`,
      }),
    };
  }

  get synced(): boolean {
    return this.#services.view.synced && this.#slices.view.synced && this.#endpoints.view.synced;
  }

  /** The loops, by what they watch, with the milliseconds since each last stirred. */
  get loops(): readonly { readonly name: string; readonly silentMs: number }[] {
    return Object.entries(this.#reflectors).map(([name, { silentMs }]) => ({ name: `the local ${name}`, silentMs }));
  }

  service(name: string): ObservedService | undefined {
    return this.#read(this.#services, name);
  }

  endpoints(name: string): ObservedEndpoints | undefined {
    return this.#read(this.#endpoints, name);
  }

  /** Our slices of a Service, by whatever names, sorted. */
  slices(service: string): readonly ObservedSlice[] {
    return [...(this.#slicesOf.get(service)?.values() ?? [])].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** All Services, ours or not. */
  services(): readonly ObservedService[] {
    const { view } = this.#services;
    return view.synced ? [...view.objects.values()] : [];
  }

  /** All Services that have slices of ours, whether or not they are there themselves. */
  namesWithSlices(): Iterable<string> {
    return this.#slicesOf.keys();
  }

  /** The answer to a write of ours, which the watch will bring later. */
  wroteService(service: Service): void {
    this.#reflectors.services.wrote(service);
  }

  wroteSlice(slice: EndpointSlice): void {
    this.#reflectors.slices.wrote(slice);
  }

  /** An object of ours was deleted, which the watch will tell later. A Service may be terminating yet. */
  deletedSlice({ name, uid }: ObservedSlice): void {
    this.#slices.delete(this.#key(name), uid);
  }

  deletedEndpoints({ name, uid }: ObservedEndpoints): void {
    this.#endpoints.delete(this.#key(name), uid);
  }

  /** What is known may be wrong, as a write has shown: lists everything again, but no more often than lists need. */
  recheck(): void {
    for (const reflector of Object.values(this.#reflectors)) reflector.recheck();
  }

  /** Watches until `signal` is aborted; once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(Object.values(this.#reflectors).map((reflector) => reflector.run({ signal })));
  }

  #key(name: string): string {
    return `${this.#options.namespace}/${name}`;
  }

  #read<V extends Observed>(store: Store<V>, name: string): V | undefined {
    const { view } = store;
    return view.synced ? view.objects.get(this.#key(name)) : undefined;
  }

  #store<V extends Observed>(
    watch: 'services' | 'slices' | 'endpoints',
    onChange: (key: string, change: { previous: V | undefined; current: V | undefined }) => void,
  ): Store<V> {
    const { onObject } = this.#options;
    return new Store<V>({
      equal: isSameVersion,
      onChange: ({ key, ...change }) => {
        onObject(watch, change);
        onChange(key, change);
      },
    });
  }

  #reflector<K extends Kind, V extends Observed>(
    watch: 'services' | 'slices' | 'endpoints',
    {
      labelSelector,
      ...what
    }: { kind: K; store: Store<V>; project: (object: KubeObject<K>) => V | undefined; labelSelector?: string },
  ): Reflector<K, V> {
    const { client, namespace, idleTimeoutMs, pollIntervalMs, hooks } = this.#options;
    const selection = labelSelector === undefined ? {} : { labelSelector };
    return new Reflector({
      ...what,
      ...selection,
      client,
      namespace,
      watchList: 'auto',
      idleTimeoutMs,
      pollIntervalMs,
      hooks: hooks(watch),
    });
  }

  #moveSlice(key: string, previous: ObservedSlice | undefined, current: ObservedSlice | undefined): void {
    const names = new Set<string>();
    if (previous !== undefined) {
      const name = serviceOf(previous);
      const slices = this.#slicesOf.get(name);
      slices?.delete(key);
      if (slices?.size === 0) this.#slicesOf.delete(name);
      names.add(name);
    }
    if (current !== undefined) {
      const name = serviceOf(current);
      const slices = this.#slicesOf.get(name) ?? new Map<string, ObservedSlice>();
      this.#slicesOf.set(name, slices.set(key, current));
      names.add(name);
    }
    for (const name of names) this.#options.onChange(name);
  }
}

const serviceOf = ({ labels }: ObservedSlice): string => labels[serviceNameLabel] ?? '';

/** Everything that others do to our objects is looked at, and a write must know the newest version. */
const isSameVersion = (a: Observed, b: Observed): boolean => a.resourceVersion === b.resourceVersion;
