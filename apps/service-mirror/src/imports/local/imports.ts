import type { Change, Store } from '@kube-semaphore/informers';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import {
  endpointSliceKind,
  type Kind,
  namespaceKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { type LeaderQueue, Watched, type WatchedOptions } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../../config/options.ts';
import { compareNames } from '@kube-semaphore/naming';
import type { LocalCounts } from '../../metrics/local-counts.ts';
import { type ImportChange, namespaceOf, type ObservedObjects } from '../desired/changes.ts';
import { keyOfDerived, keyOfSlice, type LocalDerived, type LocalImport, type LocalSlice } from '../desired/observed.ts';
import { clusterOf } from '../desired/retained.ts';
import type { Identity } from '../../endpoints/desired/observed.ts';
import { importKey, importNameLabel, managedByLabel, sliceManagedByLabel, sliceManager } from '../../names.ts';
import { SliceIndex } from '../../endpoints/desired/slice-index.ts';
import { memoize } from '@kube-semaphore/memoize';
import { OwnWrites } from '../../endpoints/local/own-writes.ts';
import { observedSlice } from '../../endpoints/local/read.ts';
import type { WrittenObject } from './import-writer.ts';
import { observedDerived, observedImport } from './read.ts';

export type LocalImportsOptions = {
  readonly client: KubeClient;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly queue: Pick<LeaderQueue, 'enqueue'>;
  /** A namespace was created or removed. */
  readonly onNamespace: (name: string) => void;
  /** Of the clusters that have a part in an object of ours. */
  readonly counts: Pick<LocalCounts, 'importChanged'>;
  /** The objects can't be listed: not yet, or not any more. */
  readonly onFailure: (error: unknown) => void;
  /** A list is complete, and all others are. */
  readonly onListed: () => void;
};

/** An import's name, and the place of the Service with its address. */
export type ImportAt = {
  readonly namespace: string;
  readonly name: string;
  readonly derivedNamespace: string;
  readonly derivedName: string;
};

/** The label selectors of our objects. */
export const OURS = {
  imports: `${managedByLabel}=${sliceManager}`,
  slices: `${sliceManagedByLabel}=${sliceManager},${importNameLabel}`,
  services: `${managedByLabel}=${sliceManager},${importNameLabel}`,
};

/** The local objects of ServiceImports: all imports, our Services and slices for them, and all namespaces. */
export class LocalImports {
  readonly #options: LocalImportsOptions;
  readonly #listed = Promise.withResolvers<void>();
  readonly #imports: Watched<typeof serviceImportKind, LocalImport>;
  readonly #services: Watched<typeof serviceKind, LocalDerived>;
  readonly #slices: Watched<typeof endpointSliceKind, LocalSlice>;
  readonly #namespaces: Watched<typeof namespaceKind, { readonly uid: string }>;
  readonly #all: readonly Pick<Watched<Kind, { readonly uid: string }>, 'synced' | 'recheck' | 'run'>[];
  readonly #ownWrites = new OwnWrites();
  readonly #servicesByImport = new SliceIndex<LocalDerived>(keyOfDerived);
  readonly #slicesByImport = new SliceIndex<LocalSlice>(keyOfSlice);

  constructor(options: LocalImportsOptions) {
    const { queue, counts, onNamespace } = options;
    this.#options = options;
    this.#imports = this.#watch(
      {
        kind: serviceImportKind,
        project: (each) => ({ ...observedImport(each), namespace: each.metadata.namespace }),
        equal: isSameVersion,
      },
      ({ key, previous, current }) => {
        counts.importChanged(partsOf(previous), partsOf(current));
        // No `since`, here and below: a repair doesn't count as propagation.
        queue.enqueue([importKeyOf(key)]);
      },
    );
    this.#services = this.#watch(
      {
        kind: serviceKind,
        project: (each) => ({ ...observedDerived(each), namespace: each.metadata.namespace }),
        labelSelector: OURS.services,
        equal: isSameVersion,
      },
      (change) => queue.enqueue(this.#servicesByImport.move(change)),
    );
    this.#slices = this.#watch(
      {
        kind: endpointSliceKind,
        project: (each) => {
          const { namespace, name } = each.metadata;
          const slice = observedSlice(each, this.#ownWrites.endpoints(`${namespace}/${name}`));
          return slice && { ...slice, namespace };
        },
        labelSelector: OURS.slices,
        equal: isSameVersion,
      },
      (change) => {
        counts.importChanged(clustersOf(change.previous), clustersOf(change.current));
        const keys = this.#slicesByImport.move(change);
        if (!this.#ownWrites.made(change)) queue.enqueue(keys);
      },
    );
    this.#namespaces = this.#watch(
      { kind: namespaceKind, project: ({ metadata }) => ({ uid: metadata.uid }), equal: () => true },
      // Before, nothing can be decided, and each cluster enqueues its keys once it is listed.
      ({ key }) => {
        if (this.isSynced()) onNamespace(key);
      },
    );
    this.#all = [this.#imports, this.#services, this.#slices, this.#namespaces];
  }

  /** Resolves when everything has been listed once. */
  get listed(): Promise<void> {
    return this.#listed.promise;
  }

  isSynced(): boolean {
    return this.#all.every(({ synced }) => synced);
  }

  hasNamespace(name: string): boolean {
    return this.#namespaces.get(name) !== undefined;
  }

  /** All imports that we write, in no order. */
  imports(): readonly LocalImport[] {
    return this.#imports.values().filter(isOurs);
  }

  /** The clusters that have a part in an object of ours, for each object, also before the first lists are complete. */
  parts(): readonly (readonly string[])[] {
    return [...this.#imports.store.all().map(partsOf), ...this.#slices.store.all().map(clustersOf)];
  }

  /** Ours or not; undefined if there is no such import, or none is known. */
  import(namespace: string, name: string): LocalImport | undefined {
    return this.#imports.get(`${namespace}/${name}`);
  }

  /** One of our slices. */
  slice(namespace: string, name: string): LocalSlice | undefined {
    return this.#slices.get(`${namespace}/${name}`);
  }

  /** Our slices of an import, wherever they are. */
  slices(key: string): readonly LocalSlice[] {
    return this.#slicesByImport.slices(key);
  }

  /** Our Service of an import, if it is at that place. */
  service({ namespace, name, derivedNamespace, derivedName }: ImportAt): LocalDerived | undefined {
    const services = this.#servicesByImport.slices(importKey(namespace, name));
    return services.find((each) => each.name === derivedName && each.namespace === derivedNamespace);
  }

  /** The keys of all imports that have an object of ours. */
  keys(): readonly string[] {
    const imports = this.imports().map(({ namespace, name }) => importKey(namespace, name));
    return [...imports, ...this.#servicesByImport.services(), ...this.#slicesByImport.services()];
  }

  /**
   * The objects of an import.
   *
   * @param isHeadless whether its slices should be beside the import
   * @returns `misplaced`: ours, but where the config or the import's type doesn't want them any more
   */
  observed(
    at: ImportAt,
    isHeadless: boolean,
  ): ObservedObjects & { readonly misplaced: readonly (LocalDerived | LocalSlice)[] } {
    const { namespace, name, derivedNamespace } = at;
    const key = importKey(namespace, name);
    const services = this.#servicesByImport.slices(key);
    const slices = byName(this.slices(key));
    const service = this.service(at);
    const isPlaced = (slice: LocalSlice): boolean => slice.namespace === (isHeadless ? namespace : derivedNamespace);
    return {
      serviceImport: this.import(namespace, name),
      service,
      slices: slices.filter(isPlaced),
      misplaced: [...services.filter((each) => each !== service), ...slices.filter((each) => !isPlaced(each))],
    };
  }

  /** Makes a change, and stores the answer, before the watch reports it. A slice shares its endpoints with the source. */
  async write(change: ImportChange, at: ImportAt, send: () => Promise<WrittenObject>): Promise<WrittenObject> {
    if (change.kind !== 'create-slice' && change.kind !== 'update-slice') return this.#store(change, at, await send());
    const key = `${namespaceOf(change, at)}/${change.to.name}`;
    return this.#ownWrites.during(key, change, async () => this.#store(change, at, await send()));
  }

  #store(change: ImportChange, at: ImportAt, written: WrittenObject): WrittenObject {
    if (written === undefined) this.#deleted(change, at);
    else this.#wrote(written);
    return written;
  }

  #wrote(written: NonNullable<WrittenObject>): void {
    if (written.kind === 'import') this.#imports.wrote(written.object);
    else if (written.kind === 'slice') this.#slices.wrote(written.object);
    else this.#services.wrote(written.object);
  }

  /** Removes a deleted object, before the watch reports it. */
  #deleted(change: ImportChange, { namespace, derivedNamespace }: ImportAt): void {
    if (change.kind === 'delete-import') deleted(this.#imports.store, `${namespace}/${change.from.name}`, change.from);
    if (change.kind === 'delete-derived')
      deleted(this.#services.store, `${derivedNamespace}/${change.from.name}`, change.from);
    if (change.kind !== 'delete-slice') return;
    for (const place of new Set([namespace, derivedNamespace]))
      this.#slices.store.delete(`${place}/${change.from.name}`, change.from.uid);
  }

  /** Lists everything again, as a write showed that the stores may be wrong. */
  recheck(): void {
    for (const watched of this.#all) watched.recheck();
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run(running: RunOptions): Promise<void> {
    await Promise.all(this.#all.map((watched) => watched.run(running)));
  }

  #watch<K extends Kind, V extends { readonly uid: string }>(
    what: Pick<WatchedOptions<K, V>, 'kind' | 'project' | 'labelSelector' | 'equal'>,
    changed: (change: Change<V>) => void,
  ): Watched<K, V> {
    const { client, options, onFailure, onListed } = this.#options;
    return new Watched<K, V>({
      ...what,
      onChange: changed,
      client,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      hooks: {
        onSynced: () => {
          if (!this.isSynced()) return;
          this.#listed.resolve();
          onListed();
        },
        onRestart: ({ error }) => {
          // Whether the API server is reached, the watches of the mirror namespace report.
          if (error !== undefined && (!this.isSynced() || isStatus(error, 403, 404))) onFailure(error);
        },
      },
    });
  }
}

const byName = memoize((slices: readonly LocalSlice[]) => slices.toSorted(compareNames));

/** Every version counts, as in `LocalObjects`. */
const isSameVersion = (a: Identity, b: Identity): boolean => a.resourceVersion === b.resourceVersion;

/** Removes a deleted object from its store, unless it exists until its finalizers are removed. */
function deleted<V extends LocalImport | LocalDerived>(
  of: Store<V>,
  key: string,
  from: Identity & Pick<V, 'finalizers'>,
) {
  if (from.finalizers.length === 0) return of.delete(key, from.uid);
  const last = of.last(key);
  // The watch may have been quicker.
  if (last?.resourceVersion === from.resourceVersion) of.set(key, { ...last, isTerminating: true });
}

/** @param key of the store */
const importKeyOf = (key: string): string => importKey(...(key.split('/') as [string, string]));

const isOurs = ({ labels }: LocalImport): boolean => labels[managedByLabel] === sliceManager;

const partsOf = (found: LocalImport | undefined): readonly string[] =>
  found !== undefined && isOurs(found) ? found.clusters : [];

const clustersOf = (slice: LocalSlice | undefined): readonly string[] =>
  slice === undefined ? [] : [clusterOf(slice)];
