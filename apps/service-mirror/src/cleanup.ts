import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, endpointSliceKind, endpointsKind, serviceKind } from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel, sliceManagedByLabel, sliceManager } from './names.ts';
import { type Leftover, leftovers, type Namespace } from './desired/orphans.ts';
import { ObjectWriter } from './local/object-writer.ts';
import { changeLine } from './plan.ts';
import { observedEndpoints, observedService, observedSlice } from './local/read.ts';

export type CleanupInput = {
  /** Of the local cluster. */
  readonly client: KubeClient;
  /** The mirror namespace. */
  readonly namespace: string;
  /** The cluster that is served no more, or the prefix of its mirrors. */
  readonly cluster: string;
  /** The clusters of the config. */
  readonly served: readonly string[];
};

/**
 * What a cluster left in the mirror namespace, to be removed: for one that is served no more. Nothing but a cleanup ever
 * removes objects of a cluster that isn't in the config, for another process may serve it.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function removalsOf(
  { client, namespace, ...whose }: CleanupInput,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const writer = new ObjectWriter(client, namespace);
  return leftovers(await observe(client, { namespace, signal }), whose).map((leftover) => ({
    line: changeLine(leftover),
    carryOut: (run) => carryOut(leftover, writer, run),
  }));
}

async function observe(client: KubeClient, at: RunOptions & { readonly namespace: string }): Promise<Namespace> {
  const [services, slices, endpoints] = await Promise.all([
    listAll(client, new Codec(serviceKind), at),
    listAll(client, new Codec(endpointSliceKind), { ...at, labelSelector: `${sliceManagedByLabel}=${sliceManager}` }),
    listAll(client, new Codec(endpointsKind), { ...at, labelSelector: `${mirroredServiceLabel}=true` }),
  ]);
  return {
    services: services.map(observedService),
    slices: slices.map(observedSlice).filter((slice) => slice !== undefined),
    endpoints: endpoints.map(observedEndpoints),
  };
}

async function carryOut(leftover: Leftover, writer: ObjectWriter, run: RunOptions): Promise<void> {
  switch (leftover.kind) {
    case 'update-service':
      await writer.updateService(leftover.from, leftover.to, run);
      return;
    case 'delete-service':
      return writer.deleteService(leftover.from, { ...run, orphan: false });
    case 'delete-endpoints':
      return writer.deleteEndpoints(leftover.from, run);
    case 'delete-slice':
      return writer.deleteSlice(leftover.from, run);
  }
}
