import { isStatus, KubeApiError, type WriteOptions } from '@kube-semaphore/kube-client';
import type { Condition } from '@kube-semaphore/kube-objects';
import type { LocalWrites } from '@kube-semaphore/multicluster';
import type { ImportChange } from '../../desired/mcs/changes.ts';
import type { Identity } from '../../desired/observed.ts';
import { importClusterLabel } from '../../names.ts';
import type { ExportSource } from '../../remote/mcs/exports.ts';
import { payerOf } from '../payer.ts';
import { isRefusal } from '../refused-writes.ts';
import type { ImportAt, LocalImports } from './imports.ts';
import type { ImportWriter } from './import-writer.ts';
import type { VainWrites } from './vain-writes.ts';

export type ImportWritesOptions = {
  readonly writes: Pick<LocalWrites, 'write'>;
  readonly writer: ImportWriter;
  readonly imports: LocalImports;
  /** Those of the local cluster. */
  readonly exports: () => ExportSource;
  /** The remotes that have a part in an import now. */
  readonly remotesOf: (at: ImportAt) => readonly string[];
  readonly remotes: ReadonlySet<string>;
  readonly vain: VainWrites;
};

type Due = { readonly key: string; readonly at: ImportAt; readonly since: number | undefined };

/** Writes the changes of imports, within the budgets of the remotes that cause them, and stores the answers. */
export class ImportWrites {
  readonly #options: ImportWritesOptions;

  constructor(options: ImportWritesOptions) {
    this.#options = options;
  }

  /**
   * Makes one change when it is its turn. A refusal is remembered.
   *
   * @returns whether the change was made, or refused; false if the namespace is gone, or is being deleted
   */
  async write(change: ImportChange, { key, at, since }: Due): Promise<boolean> {
    const { writes, vain, remotes } = this.#options;
    const cluster = clusterOf(change);
    const remote = cluster !== undefined && remotes.has(cluster) ? cluster : undefined;
    const isDeletion = change.kind.startsWith('delete');
    const payer = this.#payerOf(cluster, at);
    const event = () => ({ event: EVENTS[change.kind], facts: factsOf(change, at) });
    try {
      await writes.write({ payer, isDeletion, since, remote, repairs: undefined, event }, (options) =>
        this.#send(change, { key, at }, options),
      );
      return true;
    } catch (error) {
      if (isNamespaceGone(change, error)) return false;
      if (!isRefusal(error)) throw error;
      vain.add(key, change, error.message);
      return true;
    }
  }

  /** Replaces the conditions of an export of the local cluster when it is its turn. */
  async writeConditions(
    from: Identity,
    conditions: readonly Condition[],
    { key, at }: Pick<Due, 'key' | 'at'>,
  ): Promise<void> {
    const { writes, writer, exports, vain } = this.#options;
    const { namespace, name } = at;
    const event = () => ({ event: 'export status updated', facts: { export: `${namespace}/${name}` } });
    const write = {
      payer: this.#payerOf(undefined, at),
      isDeletion: false,
      since: undefined,
      remote: undefined,
      event,
    };
    await writes.write({ ...write, repairs: undefined }, async (options) => {
      try {
        const written = await writer.writeConditions(from, conditions, { ...options, namespace });
        exports().wrote(written);
        if (written.metadata.resourceVersion === from.resourceVersion)
          vain.add(key, { kind: 'update-export-status', from, conditions });
      } catch (error) {
        if (isStatus(error, 409)) exports().recheck();
        // The watch reports that the export is gone.
        if (!isStatus(error, 404)) throw error;
      }
    });
  }

  async #send(change: ImportChange, { key, at }: Pick<Due, 'key' | 'at'>, options: WriteOptions): Promise<void> {
    const { writer, imports, vain } = this.#options;
    try {
      const written = await imports.write(change, at, () => writer.write(change, at, options));
      const isIgnored = 'from' in change && change.from.resourceVersion === written?.object.metadata.resourceVersion;
      if (isIgnored) vain.add(key, change);
    } catch (error) {
      if (isStatus(error, 404, 409)) imports.recheck();
      throw error;
    }
  }

  #payerOf(cluster: string | undefined, at: ImportAt): string | undefined {
    const { remotes, remotesOf } = this.#options;
    return payerOf({ cluster, parts: () => remotesOf(at) }, remotes);
  }
}

/** The cluster of a slice's endpoints; undefined for other objects. */
function clusterOf(change: ImportChange): string | undefined {
  const { labels = {} } = ('to' in change ? change.to : change.from) as { labels?: Readonly<Record<string, string>> };
  return labels[importClusterLabel];
}

/** The watch of Namespaces reports what follows. */
const isNamespaceGone = (change: ImportChange, error: unknown): boolean =>
  change.kind.startsWith('create') &&
  error instanceof KubeApiError &&
  (error.status === 404 || error.causes.includes('NamespaceTerminating'));

function factsOf(change: ImportChange, { namespace, name }: ImportAt): Readonly<Record<string, unknown>> {
  const of = `${namespace}/${name}`;
  switch (change.kind) {
    case 'create-slice':
    case 'update-slice':
      return { import: of, slice: change.to.name, endpoints: change.to.endpoints.length };
    case 'delete-slice':
      return { import: of, slice: change.from.name };
    default:
      return { import: of };
  }
}

const EVENTS = {
  'create-derived': 'service of import created',
  'update-derived': 'service of import updated',
  'delete-derived': 'service of import deleted',
  'create-import': 'import created',
  'update-import': 'import updated',
  'update-import-status': 'import status updated',
  'delete-import': 'import deleted',
  'create-slice': 'slice created',
  'update-slice': 'slice updated',
  'delete-slice': 'slice deleted',
} as const;
