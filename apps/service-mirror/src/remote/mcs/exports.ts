import { isDeepStrictEqual } from 'node:util';
import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Condition, type ServiceExport, serviceExportKind } from '@kube-semaphore/kube-objects';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Identity } from '../../desired/observed.ts';
import { readExport, type SourceExport } from '../read/export.ts';
import {
  asYoungest,
  guardOf,
  nameOf,
  readTooLarge,
  reflectorSettings,
  type Stored,
  type WatchSettings,
} from '../stored.ts';

/** The status of an export of the local cluster, which we write. */
type OwnStatus = { readonly resourceVersion: string; readonly conditions: readonly Condition[] };

type StoredExport = Stored<SourceExport> & Partial<OwnStatus>;

export type ExportSourceOptions = WatchSettings & {
  readonly client: KubeClient;
  /** Whether to keep the status: only for the local cluster. */
  readonly isLocal: boolean;
  readonly hooks: ReflectorHooks;
  /** The export of this namespace and name was added, changed or removed. */
  readonly onChange: (at: Pick<SourceExport, 'namespace' | 'name'>, change: { readonly isRemoved: boolean }) => void;
  /** What is skipped of an object (`export ns/name`) from now on. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/**
 * The ServiceExports of one cluster. They are unknown, not missing, until a first list is complete: so also while the
 * cluster has no definition of them (404), or not in our version, or forbids to list them (403).
 */
export class ExportSource {
  readonly #store: Store<StoredExport>;
  readonly #reflector: Reflector<typeof serviceExportKind, StoredExport>;

  constructor({ client, options, budget, isLocal, hooks, onChange, onSkipped }: ExportSourceOptions) {
    this.#store = new Store<StoredExport>({
      equal: (a, b) => isDeepStrictEqual(a, b),
      onChange: ({ key, current }) => {
        onSkipped(`export ${key}`, current?.skipped ?? []);
        onChange(nameOf(key), { isRemoved: current?.value === undefined });
      },
      holding: { guard: guardOf({ options }), hold: asYoungest, claims: () => [], withoutClaim: () => undefined },
    });
    this.#reflector = new Reflector({
      client,
      kind: serviceExportKind,
      project: (each) => ({ uid: each.metadata.uid, ...(isLocal && statusOf(each)), ...readExport(each) }),
      projectTooLarge: readTooLarge,
      store: this.#store,
      ...reflectorSettings({ options, budget }),
      hooks,
    });
  }

  /** Whether its exports can be decided about. */
  get known(): boolean {
    return this.#store.view.synced;
  }

  /** How many deletions are held. */
  get held(): number {
    return this.#store.held;
  }

  /** Milliseconds since the watch was active. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Undefined if there is none, or if it isn't known. */
  export(namespace: string, name: string): SourceExport | undefined {
    const { view } = this.#store;
    return view.synced ? view.objects.get(`${namespace}/${name}`)?.value : undefined;
  }

  /** The object of an export of the local cluster; undefined if there is none. */
  own(namespace: string, name: string): (Identity & OwnStatus) | undefined {
    const { view } = this.#store;
    const stored = view.synced ? view.objects.get(`${namespace}/${name}`) : undefined;
    if (stored?.value === undefined || stored.resourceVersion === undefined) return undefined;
    const { uid, resourceVersion, conditions = [] } = stored;
    return { name, uid, resourceVersion, conditions };
  }

  /** All exports, in no order. */
  exports(): readonly SourceExport[] {
    const { view } = this.#store;
    return view.synced ? [...view.objects.values()].flatMap(({ value }) => value ?? []) : [];
  }

  /** Measures the first list against what our imports show. To be called before `run`. */
  seed(exports: readonly SourceExport[]): void {
    for (const value of exports) this.#store.seed(`${value.namespace}/${value.name}`, { uid: '', value, skipped: [] });
  }

  /** Stores the answer to a write, before the watch reports it. */
  wrote(object: ServiceExport): void {
    this.#reflector.wrote(object);
  }

  /** Lists everything again, as a write showed that the store may be wrong. */
  recheck(): void {
    this.#reflector.recheck();
  }

  /** Watches until `signal` is aborted; to be called once. */
  run(options: RunOptions): Promise<void> {
    return this.#reflector.run(options);
  }
}

const statusOf = ({ metadata, status }: ServiceExport): OwnStatus => ({
  resourceVersion: metadata.resourceVersion,
  conditions: status.conditions,
});
