import { isDeepStrictEqual } from 'node:util';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Condition, type ServiceExport, serviceExportKind } from '@kube-semaphore/kube-objects';
import { type DiagnosticRegister, Watched } from '@kube-semaphore/multicluster';
import type { Identity } from '../../endpoints/desired/observed.ts';
import type { Importer } from '../../endpoints/remote/export-to.ts';
import { readExport, type SourceExport } from './read-export.ts';
import {
  asYoungest,
  guardOf,
  nameOf,
  readTooLarge,
  type Stored,
  type WatchSettings,
  watchSettings,
} from '../../endpoints/remote/stored.ts';

/** The status of an export of the local cluster, which we write. */
type OwnStatus = { readonly resourceVersion: string; readonly conditions: readonly Condition[] };

type StoredExport = Stored<SourceExport> & Partial<OwnStatus>;

export type ExportSourceOptions = WatchSettings & {
  readonly client: KubeClient;
  /** Whether to keep the status: only for the local cluster. */
  readonly isLocal: boolean;
  /** The local cluster; undefined for its own exports. */
  readonly importer: Importer | undefined;
  readonly hooks: ReflectorHooks;
  /** The export of this namespace and name was added, changed or removed. */
  readonly onChange: (at: Pick<SourceExport, 'namespace' | 'name'>, change: { readonly isRemoved: boolean }) => void;
  /** Of objects, as `export ns/name`. */
  readonly skipped: Pick<DiagnosticRegister, 'replace'>;
};

/**
 * The ServiceExports of one cluster. They are unknown, not missing, until a first list is complete: so also while the
 * cluster has no definition of them (404), or not in our version, or forbids to list them (403).
 */
export class ExportSource {
  readonly #exports: Watched<typeof serviceExportKind, StoredExport>;

  constructor({ client, options, budget, isLocal, importer, hooks, onChange, skipped }: ExportSourceOptions) {
    this.#exports = new Watched<typeof serviceExportKind, StoredExport>({
      client,
      kind: serviceExportKind,
      project: (each) => ({ uid: each.metadata.uid, ...(isLocal && statusOf(each)), ...readExport(each, importer) }),
      projectTooLarge: readTooLarge,
      equal: (a, b) => isDeepStrictEqual(a, b),
      onChange: ({ key, current }) => {
        skipped.replace(`export ${key}`, current?.skipped ?? []);
        onChange(nameOf(key), { isRemoved: current?.value === undefined });
      },
      holding: { guard: guardOf({ options }), hold: asYoungest, claims: () => [], withoutClaim: () => undefined },
      ...watchSettings({ options, budget }),
      hooks,
    });
  }

  /** Whether its exports can be decided about. */
  get known(): boolean {
    return this.#exports.synced;
  }

  /** How many deletions are held. */
  get held(): number {
    return this.#exports.held;
  }

  /** Milliseconds since the watch was active. */
  get silentMs(): number {
    return this.#exports.silentMs;
  }

  /** Undefined if there is none, or if it isn't known. */
  export(namespace: string, name: string): SourceExport | undefined {
    return this.#exports.get(`${namespace}/${name}`)?.value;
  }

  /** The object of an export of the local cluster; undefined if there is none. */
  own(namespace: string, name: string): (Identity & OwnStatus) | undefined {
    const stored = this.#exports.get(`${namespace}/${name}`);
    if (stored?.value === undefined || stored.resourceVersion === undefined) return undefined;
    const { uid, resourceVersion, conditions = [] } = stored;
    return { name, uid, resourceVersion, conditions };
  }

  /** All exports, in no order. */
  exports(): readonly SourceExport[] {
    return this.#exports.values().flatMap(({ value }) => value ?? []);
  }

  /** Measures the first list against what our imports show. To be called before `run`. */
  seed(exports: readonly SourceExport[]): void {
    for (const value of exports)
      this.#exports.seed(`${value.namespace}/${value.name}`, { uid: '', value, skipped: [] });
  }

  /** Stores the answer to a write, before the watch reports it. */
  wrote(object: ServiceExport): void {
    this.#exports.wrote(object);
  }

  /** Lists everything again, as a write showed that the store may be wrong. */
  recheck(): void {
    this.#exports.recheck();
  }

  /** Watches until `signal` is aborted; to be called once. */
  run(options: RunOptions): Promise<void> {
    return this.#exports.run(options);
  }
}

const statusOf = ({ metadata, status }: ServiceExport): OwnStatus => ({
  resourceVersion: metadata.resourceVersion,
  conditions: status.conditions,
});
