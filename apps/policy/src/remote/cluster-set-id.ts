import { once } from 'node:events';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import { clusterSetLabel } from '../names.ts';

/** What a remote says about its id in its ClusterSet. `unknown`: it has no About API, or we may not read it. */
export type ClusterSetId =
  | { readonly kind: 'same' }
  | { readonly kind: 'different'; readonly id: string }
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * Compares our name of a cluster with its ClusterProperty `cluster.clusterset.k8s.io` (About API, KEP-2149).
 *
 * @throws the signal's reason, and nothing else
 */
export async function compareClusterSetId(
  client: Pick<KubeClient, 'getRaw'>,
  cluster: string,
  { signal }: RunOptions,
): Promise<ClusterSetId> {
  try {
    const group = (await client.getRaw('/apis/about.k8s.io', { signal })) as {
      preferredVersion?: { groupVersion?: string };
    };
    const version = group.preferredVersion?.groupVersion ?? 'about.k8s.io/v1alpha1';
    const property = (await client.getRaw(`/apis/${version}/clusterproperties/${clusterSetLabel}`, { signal })) as {
      spec?: { value?: unknown };
    };
    const id = property.spec?.value;
    if (typeof id !== 'string') return { kind: 'unknown', error: new Error('the ClusterProperty has no value') };
    return id === cluster ? { kind: 'same' } : { kind: 'different', id: id.slice(0, 253) };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unknown', error };
  }
}

export type ClusterSetIdReport = {
  readonly client: KubeClient;
  readonly remote: { readonly cluster: string; readonly firstSync: Promise<void> };
  readonly log: Logger;
};

/**
 * Warns, once the remote is synced, if its id differs from our name of it, as policies that select by the id would select
 * another cluster. Nothing else depends on it.
 */
export async function reportClusterSetId(
  { client, remote: { cluster, firstSync }, log }: ClusterSetIdReport,
  { signal }: RunOptions,
): Promise<void> {
  if (!signal.aborted) await Promise.race([firstSync, once(signal, 'abort')]);
  if (signal.aborted) return;
  const answer = await compareClusterSetId(client, cluster, { signal });
  if (answer.kind === 'different') log.warn({ cluster, id: answer.id }, 'the remote has another id in its ClusterSet');
  if (answer.kind === 'unknown') log.debug({ cluster, error: answer.error }, 'ClusterSet id of the remote not read');
}
