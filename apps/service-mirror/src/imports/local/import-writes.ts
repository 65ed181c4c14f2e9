import { isStatus } from '@kube-semaphore/kube-client';
import type { Condition, EndpointSlice, Service, ServiceExport, ServiceImport } from '@kube-semaphore/kube-objects';
import type { LocalWrites, Remotes } from '@kube-semaphore/multicluster';
import type { RemoteSettings } from '../../config/settings.ts';
import type { ImportChange } from '../desired/changes.ts';
import type { Identity } from '../../endpoints/desired/observed.ts';
import type { SourceSlice } from '../../endpoints/desired/source.ts';
import { importClusterLabel, importKey } from '../../names.ts';
import type { McsClusters } from '../remote/exporters.ts';
import type { Accounts } from '../../endpoints/local/accounts.ts';
import type { ImportAt, LocalImports } from './imports.ts';
import type { ImportWriter } from './import-writer.ts';

export type ImportWritesOptions = {
  readonly writes: Pick<LocalWrites, 'write'>;
  readonly writer: ImportWriter;
  readonly imports: LocalImports;
  readonly clusters: Pick<McsClusters, 'local'>;
  readonly accounts: Pick<Accounts, 'charge'>;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
};

/** `source`: as in `Accounts`. */
type Due = {
  readonly at: ImportAt;
  readonly since: number | undefined;
  readonly source: SourceSlice | undefined;
};

/** Writes the changes of imports, within the budgets of the remotes that cause them, and stores the answers. */
export class ImportWrites {
  readonly #options: ImportWritesOptions;

  constructor(options: ImportWritesOptions) {
    this.#options = options;
  }

  /** Makes one change when it is its turn. @returns the object as it is now; undefined after a deletion */
  async write(
    change: ImportChange,
    { at, since, source }: Due,
  ): Promise<Service | EndpointSlice | ServiceImport | undefined> {
    const { writes, writer, imports, remotes, accounts } = this.#options;
    const cluster = clusterOf(change);
    const remote = cluster !== undefined && remotes.byName.has(cluster) ? cluster : undefined;
    const isDeletion = change.kind.startsWith('delete');
    const event = () => ({ event: EVENTS[change.kind], facts: factsOf(change, at) });
    const key = keyOf(at);
    return accounts.charge({ key, cluster, source }, (account) =>
      writes.write({ key, account, isDeletion, since, remote, repairs: undefined, event }, async (options) => {
        try {
          return (await imports.write(change, at, () => writer.write(change, at, options)))?.object;
        } catch (error) {
          if (isStatus(error, 404, 409)) imports.recheck();
          throw error;
        }
      }),
    );
  }

  /** Replaces the conditions of an export of the local cluster when it is its turn. @returns undefined if it is gone */
  async writeConditions(
    from: Identity,
    conditions: readonly Condition[],
    { at }: Pick<Due, 'at'>,
  ): Promise<ServiceExport | undefined> {
    const { writes, writer, clusters, accounts } = this.#options;
    const { exports } = clusters.local;
    const { namespace, name } = at;
    const event = () => ({ event: 'export status updated', facts: { export: `${namespace}/${name}` } });
    const key = keyOf(at);
    const write = { key, isDeletion: false, since: undefined, remote: undefined, repairs: undefined, event };
    return accounts.charge({ key, cluster: undefined, source: undefined }, (account) =>
      writes.write({ ...write, account }, async (options) => {
        try {
          const written = await writer.writeConditions(from, conditions, { ...options, namespace });
          exports.wrote(written);
          return written;
        } catch (error) {
          if (isStatus(error, 409)) exports.recheck();
          // The watch reports that the export is gone.
          if (!isStatus(error, 404)) throw error;
          return undefined;
        }
      }),
    );
  }
}

const keyOf = ({ namespace, name }: ImportAt): string => importKey(namespace, name);

/** The cluster of a slice's endpoints; undefined for other objects. */
function clusterOf(change: ImportChange): string | undefined {
  const { labels = {} } = ('to' in change ? change.to : change.from) as { labels?: Readonly<Record<string, string>> };
  return labels[importClusterLabel];
}

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
