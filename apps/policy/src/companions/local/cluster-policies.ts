import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { clusterPolicyKinds, Codec } from '@kube-semaphore/kube-objects';
import { listAll } from '@kube-semaphore/multicluster';
import type { NamedClusterPolicy } from '@kube-semaphore/network-policies';
import { servedGroups } from '../../local/api-groups.ts';

/**
 * Lists the policies for a whole cluster; none if it doesn't serve them.
 *
 * @param discovery asked for the API groups
 * @throws KubeApiError, ConnectionError
 */
export async function listClusterPolicies(
  client: KubeClient,
  run: RunOptions,
  discovery: Pick<KubeClient, 'getRaw'> = client,
): Promise<readonly NamedClusterPolicy[]> {
  const groups = await servedGroups(discovery, run);
  const lists = clusterPolicyKinds.map(async (kind) => {
    if (!groups.has(kind.group)) return [];
    const objects = await listAll(client, new Codec(kind), run).catch(noneIfNotServed);
    return objects.map(({ metadata, spec }) => ({ subject: `${kind.kind} ${metadata.name}`, spec }));
  });
  return (await Promise.all(lists)).flat();
}

/** The API group has other kinds or versions only. */
function noneIfNotServed(error: unknown): readonly never[] {
  if (error instanceof KubeApiError && error.status === 404) return [];
  throw error;
}
