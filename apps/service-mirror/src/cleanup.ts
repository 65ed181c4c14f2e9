import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, endpointSliceKind, endpointsKind, serviceKind } from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel, sliceManagedByLabel, sliceManager } from './names.ts';
import { type Namespace, orphanRemovals } from './desired/orphans.ts';
import { ObjectWriter } from './local/object-writer.ts';
import { changeLine } from './plan.ts';
import { observedEndpoints, observedService, observedSlice } from './local/read.ts';

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
