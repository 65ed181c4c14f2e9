import { type Change, Reflector, type ReflectorOptions, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  type EndpointSlice,
  endpointSliceKind,
  endpointsKind,
  type Kind,
  type Service,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { ClusterWatches, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import { mirroredServiceLabel, serviceNameLabel, sliceManagedByLabel, sliceManager } from '../names.ts';
import type { MirrorOptions } from '../config/options.ts';
import type { Settings } from '../config/settings.ts';
import type { MirrorMetrics } from '../metrics/metrics.ts';
import type { DesiredSlice } from '../desired/objects.ts';
import type { Identity, ObservedEndpoints, ObservedService, ObservedSlice } from '../desired/observed.ts';
import { SliceIndex } from '../desired/slice-index.ts';
import type { Endpoint } from '../desired/source.ts';
import { observedEndpoints, observedService, observedSlice } from './read.ts';

/** What is watched in the mirror namespace. */
export type LocalKind = 'services' | 'slices' | 'endpoints';

type Observed = Identity & { readonly labels: Readonly<Record<string, string>> };

export type LocalObjectsOptions = {
  readonly client: KubeClient;
  readonly settings: Pick<Settings, 'mirrorNamespace'>;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Something about a Service of this name changed. */
  readonly onChange: (service: string) => void;
  /** Called with every object that is added, changed or removed. */
  readonly observers: readonly { changed(kind: LocalKind, change: Omit<Change<Observed>, 'key'>): void }[];
};

/** What is in the mirror namespace: all Services, our EndpointSlices, and the Endpoints of a Go program. */
export class LocalObjects {
  /** For errors. */
  readonly what = 'the local objects';
  readonly #options: LocalObjectsOptions;
  readonly #listed = Promise.withResolvers<void>();
  readonly #watches: ClusterWatches;
  readonly #services: Store<ObservedService>;
  readonly #slices: Store<ObservedSlice>;
  readonly #endpoints: Store<ObservedEndpoints>;
  /** The endpoints of slices that are being written, by the slice's name. */
  readonly #written = new Map<string, readonly Endpoint[]>();
  readonly #slicesByService = new SliceIndex<ObservedSlice>(({ labels }) => labels[serviceNameLabel] ?? '');
  readonly #reflectors: {
    readonly services: Reflector<typeof serviceKind, ObservedService>;
    readonly slices: Reflector<typeof endpointSliceKind, ObservedSlice>;
    readonly endpoints: Reflector<typeof endpointsKind, ObservedEndpoints>;
  };

  constructor(options: LocalObjectsOptions) {
    const { metrics, log, onChange } = options;
    this.#options = options;
    this.#watches = new ClusterWatches({ cluster: 'local', metrics, log, onFirstSync: this.#listed.resolve });
    this.#services = this.#store('services', ({ name }) => onChange(name));
    this.#endpoints = this.#store('endpoints', ({ name }) => onChange(name));
    this.#slices = this.#store('slices', (_, change) => {
      for (const service of this.#slicesByService.move(change)) onChange(service);
    });
    this.#reflectors = {
      services: this.#reflector({ kind: serviceKind, store: this.#services, project: observedService }),
      slices: this.#reflector({
        kind: endpointSliceKind,
        store: this.#slices,
        project: (slice) => observedSlice(slice, this.#written.get(slice.metadata.name)),
        labelSelector: `${sliceManagedByLabel}=${sliceManager}`,
      }),
      endpoints: this.#reflector({
        kind: endpointsKind,
        store: this.#endpoints,
        project: observedEndpoints,
        labelSelector: `${mirroredServiceLabel}=true`,
      }),
    };
  }

  /** Resolves when everything has been listed once. */
  get listed(): Promise<void> {
    return this.#listed.promise;
  }

  isSynced(): boolean {
    return this.#services.view.synced && this.#slices.view.synced && this.#endpoints.view.synced;
  }

  /** The watches, with the milliseconds since each was last active. */
  loops(): readonly { readonly name: string; readonly silentMs: number }[] {
    return Object.entries(this.#reflectors).map(([kind, { silentMs }]) => ({ name: `the local ${kind}`, silentMs }));
  }

  /** Why the local cluster isn't reached; undefined if it is, or hasn't been asked yet. */
  failure(): string | undefined {
    return this.#watches.failure;
  }

  connection() {
    return this.#watches.status();
  }

  service(name: string): ObservedService | undefined {
    return this.#read(this.#services, name);
  }

  endpoints(name: string): ObservedEndpoints | undefined {
    return this.#read(this.#endpoints, name);
  }

  /** Our slices of a Service, whatever their names; sorted by name. */
  slices(service: string): readonly ObservedSlice[] {
    return this.#slicesByService.slices(service).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** All Services, ours or not. */
  services(): readonly ObservedService[] {
    const { view } = this.#services;
    return view.synced ? [...view.objects.values()] : [];
  }

  /** The names of all Services, and of those that only have slices of ours. */
  serviceNames(): readonly string[] {
    return [...this.services().map(({ name }) => name), ...this.#slicesByService.services()];
  }

  /** Stores the answer to a write, before the watch reports it. */
  wroteService(service: Service): void {
    this.#reflectors.services.wrote(service);
  }

  /** Writes a slice, and stores the answer as `wroteService` does. */
  async writeSlice({ name, endpoints }: DesiredSlice, write: () => Promise<EndpointSlice>): Promise<void> {
    this.#written.set(name, endpoints);
    try {
      this.#reflectors.slices.wrote(await write());
    } finally {
      this.#written.delete(name);
    }
  }

  /** Removes a deleted object, before the watch reports it. A deleted Service may still be terminating. */
  deletedSlice({ name, uid }: ObservedSlice): void {
    this.#slices.delete(this.#key(name), uid);
  }

  deletedEndpoints({ name, uid }: ObservedEndpoints): void {
    this.#endpoints.delete(this.#key(name), uid);
  }

  /** Lists everything again, as a write showed that the stores may be wrong. */
  recheck(): void {
    for (const reflector of Object.values(this.#reflectors)) reflector.recheck();
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(Object.values(this.#reflectors).map((reflector) => reflector.run({ signal })));
  }

  #key(name: string): string {
    return `${this.#options.settings.mirrorNamespace}/${name}`;
  }

  #read<V extends Observed>(store: Store<V>, name: string): V | undefined {
    const { view } = store;
    return view.synced ? view.objects.get(this.#key(name)) : undefined;
  }

  #store<V extends Observed>(kind: LocalKind, onChange: (object: V, change: Change<V>) => void): Store<V> {
    return new Store<V>({
      // Every version counts: other writers' changes are repaired, and a write must name the newest version.
      equal: (a, b) => a.resourceVersion === b.resourceVersion,
      onChange: ({ key, previous, current }) => {
        for (const observer of this.#options.observers) observer.changed(kind, { previous, current });
        onChange((current ?? previous)!, { key, previous, current });
      },
    });
  }

  #reflector<K extends Kind, V extends Observed>(
    what: Pick<ReflectorOptions<K, V>, 'kind' | 'store' | 'project' | 'labelSelector'>,
  ): Reflector<K, V> {
    const { client, settings, options } = this.#options;
    return new Reflector({
      ...what,
      client,
      namespace: settings.mirrorNamespace,
      watchList: 'auto',
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: this.#watches.hooks(),
    });
  }
}
