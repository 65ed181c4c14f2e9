import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, globalNetworkSetKind, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { PolicyOptions } from './config/options.ts';
import { configuredIdentity } from './desired/identity.ts';
import { isCompanion, observedCompanion } from './desired/network-policies/companion.ts';
import { observedSet } from './desired/sets/network-set.ts';
import { classify } from './desired/ownership.ts';
import { calicoApiOf } from './local/calico-api.ts';
import { sendCompanion } from './local/companions.ts';
import { changeSender } from './local/writer.ts';

export type CleanupInput = {
  readonly cluster: string;
  readonly options: PolicyOptions;
  /** Of the local cluster. */
  readonly client: KubeClient;
};

/**
 * The removals of the local sets of a cluster that is no longer in the config and, with `-network-policies`, of its
 * companions. Only a cleanup removes these, as another process may serve the cluster.
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
  const companions = options.networkPolicies ? await companionRemovals(client, cluster, { signal }) : [];
  const isOptional = options.networkPolicies;
  const api = await calicoApiOf(options.calicoApi, client, { signal, onFailure, isOptional });
  if (api === undefined) return companions;
  const send = changeSender(client, api);
  const sets = (await listAll(client, new Codec(globalNetworkSetKind(api)), { signal })).map(observedSet);
  const [clusters, identity] = [new Set([cluster]), configuredIdentity(options)];
  const ours = sets.filter(({ labels }) => classify(labels, clusters, identity).kind === 'ours');
  const ofSets = ours.map((from): Removal => ({
    line: `delete  ${from.name}  ${from.nets.length} nets`,
    carryOut: async (run) => void (await send({ kind: 'delete', from }, run)),
  }));
  return [...ofSets, ...companions];
}

async function companionRemovals(
  client: KubeClient,
  cluster: string,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const policies = await listAll(client, new Codec(networkPolicyKind), { signal });
  const companions = policies.filter(isCompanion).map(observedCompanion);
  return companions
    .filter(({ remote }) => remote === cluster)
    .map((from) => ({
      line: `delete  NetworkPolicy ${from.object.metadata.namespace}/${from.name}`,
      carryOut: async (run) => void (await sendCompanion(client, { kind: 'delete', from }, run)),
    }));
}
