import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { PolicyOptions } from './config/options.ts';
import { configuredIdentity } from './desired/identity.ts';
import { observedSet } from './desired/network-set.ts';
import { classify } from './desired/ownership.ts';
import { calicoApiOf } from './local/calico-api.ts';
import { changeSender } from './local/writer.ts';

export type CleanupInput = {
  readonly cluster: string;
  readonly options: PolicyOptions;
  /** Of the local cluster. */
  readonly client: KubeClient;
};

/**
 * The removals of the local sets of a cluster that is no longer in the config. Only a cleanup removes these, as another
 * process may serve the cluster.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function removalsOf(
  { cluster, options, client }: CleanupInput,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const api = await calicoApiOf(options.calicoApi, client, { signal, onFailure });
  const send = changeSender(client, api);
  const sets = (await listAll(client, new Codec(globalNetworkSetKind(api)), { signal })).map(observedSet);
  const [clusters, identity] = [new Set([cluster]), configuredIdentity(options)];
  return sets
    .filter(({ labels }) => classify(labels, clusters, identity).kind === 'ours')
    .map((from) => ({
      line: `delete  ${from.name}  ${from.nets.length} nets`,
      carryOut: async (run) => void (await send({ kind: 'delete', from }, run)),
    }));
}
