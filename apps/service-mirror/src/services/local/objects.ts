import type { Change } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  type EndpointSlice,
  endpointSliceKind,
  endpointsKind,
  type Kind,
  type Service,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { ClusterWatches, Watched, type WatchedOptions } from '@kube-semaphore/multicluster';
import { compareNames } from '@kube-semaphore/naming';
import type { Logger } from '@kube-semaphore/runtime';
import { mirroredServiceLabel, serviceNameLabel, sliceManagedByLabel, sliceManager } from '../../names.ts';
import type { MirrorOptions } from '../../config/options.ts';
import type { Settings } from '../../config/settings.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import type { SliceWrite } from '../../endpoints/desired/diff/slices.ts';
import type { Identity, ObservedEndpoints, ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';
import { ORPHAN } from '../../endpoints/desired/terminating.ts';
import { SliceIndex } from '../../endpoints/desired/slice-index.ts';
import { memoize } from '@kube-semaphore/memoize';
import { OwnWrites } from '../../endpoints/local/own-writes.ts';
import { observedEndpoints, observedService, observedSlice } from '../../endpoints/local/read.ts';

/** What is watched in the mirror namespace. */
export type LocalKind = 'services' | 'slices' | 'endpoints';

type Observed = Identity & { readonly labels: Readonly<Record<string, string>> };

export type LocalObjectsOptions = {
  readonly client: KubeClient;
  readonly settings: Pick<Settings, 'mirrorNamespace'>;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Something about a Service of this name changed, other than by our own write of a slice. */
  readonly onChange: (service: string) => void;
  /** Called with every object that is added, changed or removed. */
  readonly observers: readonly { changed(kind: LocalKind, change: Omit<Change<Observed>, 'key'>): void }[];
};

/** What is in the mirror namespace: all Services, our EndpointSlices, and the Endpoints of a Go program. */
export class LocalObjects {
  /** For errors. */
  readonly what = 'the local objects';
  readonly #options: LocalObjectsOptions;
  readonly #watches: ClusterWatches;
  readonly #services: Watched<typeof serviceKind, ObservedService>;
  readonly #slices: Watched<typeof endpointSliceKind, ObservedSlice>;
  readonly #endpoints: Watched<typeof endpointsKind, ObservedEndpoints>;
  readonly #all: Readonly<Record<LocalKind, Pick<Watched<Kind, Observed>, 'synced' | 'silentMs' | 'recheck' | 'run'>>>;
  readonly #ownWrites = new OwnWrites();
  readonly #slicesByService = new SliceIndex<ObservedSlice>(({ labels }) => labels[serviceNameLabel] ?? '');

  constructor(options: LocalObjectsOptions) {
    const { metrics, log, onChange } = options;
    this.#options = options;
    this.#watches = new ClusterWatches({ cluster: 'local', metrics, log });
    this.#services = this.#watch('services', { kind: serviceKind, project: observedService }, ({ name }) =>
      onChange(name),
    );
    this.#slices = this.#watch(
      'slices',
      {
        kind: endpointSliceKind,
        project: (slice) => observedSlice(slice, this.#ownWrites.endpoints(this.#key(slice.metadata.name))),
        labelSelector: `${sliceManagedByLabel}=${sliceManager}`,
      },
      (_, change) => {
        const services = this.#slicesByService.move(change);
        if (!this.#ownWrites.made(change)) for (const service of services) onChange(service);
      },
    );
    this.#endpoints = this.#watch(
      'endpoints',
      { kind: endpointsKind, project: observedEndpoints, labelSelector: `${mirroredServiceLabel}=true` },
      ({ name }) => onChange(name),
    );
    this.#all = { services: this.#services, slices: this.#slices, endpoints: this.#endpoints };
  }

  /** Resolves when everything has been listed once. */
  get listed(): Promise<void> {
    return this.#watches.firstSync;
  }

  isSynced(): boolean {
    return Object.values(this.#all).every(({ synced }) => synced);
  }

  /** The watches, with the milliseconds since each was last active. */
  loops(): readonly { readonly name: string; readonly silentMs: number }[] {
    return Object.entries(this.#all).map(([kind, { silentMs }]) => ({ name: `the local ${kind}`, silentMs }));
  }

  /** Why the local cluster isn't reached; undefined if it is, or hasn't been asked yet. */
  failure(): string | undefined {
    return this.#watches.failure;
  }

  connection() {
    return this.#watches.status();
  }

  service(name: string): ObservedService | undefined {
    return this.#services.get(this.#key(name));
  }

  endpoints(name: string): ObservedEndpoints | undefined {
    return this.#endpoints.get(this.#key(name));
  }

  /** One of our slices. */
  slice(name: string): ObservedSlice | undefined {
    return this.#slices.get(this.#key(name));
  }

  /** Our slices of a Service, whatever their names; sorted by name. */
  slices(service: string): readonly ObservedSlice[] {
    return byName(this.#slicesByService.slices(service));
  }

  /** All Services, ours or not. */
  services(): readonly ObservedService[] {
    return this.#services.values();
  }

  /** All objects, also before the first lists are complete: to count, never to decide. */
  all(): Readonly<Record<LocalKind, readonly Observed[]>> {
    return {
      services: this.#services.store.all(),
      slices: this.#slices.store.all(),
      endpoints: this.#endpoints.store.all(),
    };
  }

  /** The names of all Services, and of those that only have slices of ours. */
  serviceNames(): readonly string[] {
    return [...this.services().map(({ name }) => name), ...this.#slicesByService.services()];
  }

  /** Stores the answer to a write, before the watch reports it. */
  wroteService(service: Service): void {
    this.#services.wrote(service);
  }

  /**
   * A Service was deleted to be created again. It counts as terminating before the watch of Services reports that, as the watch
   * of slices may report first that the garbage collector released them: with their old owner again, they would go with it.
   */
  replacedService(from: ObservedService): void {
    const key = this.#key(from.name);
    if (this.#services.get(key)?.resourceVersion !== from.resourceVersion) return;
    this.#services.store.set(key, { ...from, isTerminating: true, finalizers: [...from.finalizers, ORPHAN] });
  }

  /** Writes a slice, and stores the answer as `wroteService` does. */
  writeSlice(change: SliceWrite, write: () => Promise<EndpointSlice>): Promise<void> {
    return this.#ownWrites.during(this.#key(change.to.name), change, async () => this.#slices.wrote(await write()));
  }

  /** Removes a deleted object, before the watch reports it. A deleted Service may still be terminating. */
  deletedSlice({ name, uid }: ObservedSlice): void {
    this.#slices.store.delete(this.#key(name), uid);
  }

  deletedEndpoints({ name, uid }: ObservedEndpoints): void {
    this.#endpoints.store.delete(this.#key(name), uid);
  }

  /** Lists everything again, as a write showed that the stores may be wrong. */
  recheck(): void {
    for (const watched of Object.values(this.#all)) watched.recheck();
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(Object.values(this.#all).map((watched) => watched.run({ signal })));
  }

  #key(name: string): string {
    return `${this.#options.settings.mirrorNamespace}/${name}`;
  }

  #watch<K extends Kind, V extends Observed>(
    kind: LocalKind,
    what: Pick<WatchedOptions<K, V>, 'kind' | 'project' | 'labelSelector'>,
    changed: (object: V, change: Change<V>) => void,
  ): Watched<K, V> {
    const { client, settings, options } = this.#options;
    return new Watched<K, V>({
      ...what,
      client,
      namespace: settings.mirrorNamespace,
      // Every version counts: other writers' changes are repaired, and a write must name the newest version.
      equal: (a, b) => a.resourceVersion === b.resourceVersion,
      onChange: (change) => {
        const { previous, current } = change;
        for (const observer of this.#options.observers) observer.changed(kind, { previous, current });
        changed((current ?? previous)!, change);
      },
      idleTimeoutMs: options.watchIdleTimeoutMs,
      hooks: this.#watches.hooks(),
    });
  }
}

const byName = memoize((slices: readonly ObservedSlice[]) => slices.toSorted(compareNames));
