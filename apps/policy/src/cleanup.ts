import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, Codec, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { configuredIdentity } from './desired/identity.ts';
import { discoverCalicoApi } from './local/calico-api.ts';
import { observedSet, type ObservedSet } from './desired/network-set.ts';
import { classify } from './desired/ownership.ts';
import type { PolicyOptions } from './config/options.ts';
import { changeSender } from './local/writer.ts';

export type CleanupInput = {
  readonly cluster: string;
  readonly options: PolicyOptions;
  /** Of the local cluster. */
  readonly client: KubeClient;
};

/**
 * The local sets of a cluster, to be removed: for one that is served no more. Nothing but a cleanup ever removes sets of a
 * cluster that isn't in the config, for another process may serve it.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function removalsOf(
  { cluster, options, client }: CleanupInput,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const api = await apiOf(client, options, signal);
  const write = changeSender(client, api);
  return (await setsOf(client, { api, cluster, options, signal })).map((from) => ({
    line: `delete  ${from.name}  ${from.nets.length} nets`,
    carryOut: async (run) => void (await write({ kind: 'delete', from }, run)),
  }));
}

async function apiOf(client: KubeClient, { calicoApi }: PolicyOptions, signal: AbortSignal): Promise<CalicoApi> {
  if (calicoApi !== 'auto') return calicoApi;
  const onFailure = (error: unknown): never => {
    throw error;
  };
  return discoverCalicoApi(client, { signal, onFailure });
}

async function setsOf(
  client: KubeClient,
  { api, cluster, options, signal }: { api: CalicoApi; cluster: string; options: PolicyOptions; signal: AbortSignal },
): Promise<readonly ObservedSet[]> {
  const sets = await listAll(client, new Codec(globalNetworkSetKind(api)), { signal });
  const clusters = new Set([cluster]);
  return sets
    .map(observedSet)
    .filter(({ labels }) => classify(labels, clusters, configuredIdentity(options)).kind === 'ours');
}
