import { listAll, type Removal } from '@kube-semaphore/multicluster';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import {
  Codec,
  endpointSliceKind,
  endpointsKind,
  serviceExportKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import type { PlacedChange } from './imports/desired/changes.ts';
import { withoutOurs } from './imports/desired/conditions.ts';
import { importRemovals, type OurImports } from './imports/desired/removals.ts';
import { ImportWriter } from './imports/local/import-writer.ts';
import { OURS } from './imports/local/imports.ts';
import { observedDerived, observedImport } from './imports/local/read.ts';
import { mirroredServiceLabel, sliceManagedByLabel, sliceManager } from './names.ts';
import { type Namespace, orphanRemovals } from './services/desired/orphans.ts';
import { ObjectWriter } from './services/local/object-writer.ts';
import { changeLine, importChangeLine } from './plan.ts';
import { observedEndpoints, observedService, observedSlice } from './endpoints/local/read.ts';

export type CleanupInput = {
  /** Of the local cluster. */
  readonly client: KubeClient;
  /** The mirror namespace. */
  readonly namespace: string;
  /** The cluster that is no longer in the config, or the prefix of its mirrors. */
  readonly cluster: string;
  /** The clusters of the config. */
  readonly served: readonly string[];
};

/**
 * How to remove the orphans of a cluster from the mirror namespace. Only a cleanup removes objects of a cluster that
 * isn't in the config, because another process may serve it.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function removalsOf(
  { client, namespace, ...whose }: CleanupInput,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const writer = new ObjectWriter(client, namespace);
  return orphanRemovals(await observe(client, { namespace, signal }), whose).map((removal) => ({
    line: changeLine(removal),
    carryOut: async (run) => {
      if (removal.kind === 'update-service') await writer.updateService(removal.from, removal.to, run);
      else await writer.delete(removal, run);
    },
  }));
}

/**
 * How to remove a cluster from all ServiceImports; or everything of Multi-Cluster Services, and with it our conditions on
 * the ServiceExports of the local cluster.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function importRemovalsOf(
  { client, cluster }: Pick<CleanupInput, 'client'> & { readonly cluster: string | undefined },
  run: RunOptions,
): Promise<readonly Removal[]> {
  const writer = new ImportWriter(client);
  const removals = importRemovals(await ourImports(client, run), cluster);
  const statuses = cluster === undefined ? await statusRemovals(client, run) : [];
  return [...removals, ...statuses].map((placed) => ({
    line: importChangeLine(placed),
    carryOut: async (options) => {
      const { namespace, change } = placed;
      if (change.kind === 'update-export-status')
        await writer.writeConditions(change.from, change.conditions, { ...options, namespace });
      else await writer.write(change, { namespace, derivedNamespace: namespace }, options);
    },
  }));
}

async function ourImports(client: KubeClient, run: RunOptions): Promise<OurImports> {
  const [imports, services, slices] = await Promise.all([
    unlessUndefined(listAll(client, new Codec(serviceImportKind), { ...run, labelSelector: OURS.imports })),
    listAll(client, new Codec(serviceKind), { ...run, labelSelector: OURS.services }),
    listAll(client, new Codec(endpointSliceKind), { ...run, labelSelector: OURS.slices }),
  ]);
  return {
    imports: imports.map((each) => ({ ...observedImport(each), namespace: each.metadata.namespace })),
    services: services.map((each) => ({ ...observedDerived(each), namespace: each.metadata.namespace })),
    slices: slices.flatMap((each) => {
      const slice = observedSlice(each);
      return slice === undefined ? [] : { ...slice, namespace: each.metadata.namespace };
    }),
  };
}

async function statusRemovals(client: KubeClient, run: RunOptions): Promise<readonly PlacedChange[]> {
  const exports = await unlessUndefined(listAll(client, new Codec(serviceExportKind), run));
  return exports.flatMap(({ metadata: { namespace, ...from }, status }) => {
    const conditions = withoutOurs(status.conditions);
    return conditions === undefined ? [] : { namespace, change: { kind: 'update-export-status', from, conditions } };
  });
}

/** Empty if the cluster has no such kind: deleting a kind deletes its objects. */
const unlessUndefined = <T>(list: Promise<readonly T[]>): Promise<readonly T[]> =>
  list.catch((error: unknown) => {
    if (isStatus(error, 404)) return [];
    throw error;
  });

async function observe(client: KubeClient, at: RunOptions & { readonly namespace: string }): Promise<Namespace> {
  const [services, slices, endpoints] = await Promise.all([
    listAll(client, new Codec(serviceKind), at),
    listAll(client, new Codec(endpointSliceKind), { ...at, labelSelector: `${sliceManagedByLabel}=${sliceManager}` }),
    listAll(client, new Codec(endpointsKind), { ...at, labelSelector: `${mirroredServiceLabel}=true` }),
  ]);
  return {
    services: services.map(observedService),
    slices: slices.map((slice) => observedSlice(slice)).filter((slice) => slice !== undefined),
    endpoints: endpoints.map(observedEndpoints),
  };
}
