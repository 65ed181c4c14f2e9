import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { asRecord } from '@kube-semaphore/kube-objects';

/** Names of the API groups of a cluster. @throws KubeApiError, ConnectionError */
export const servedGroups = async (
  client: Pick<KubeClient, 'getRaw'>,
  run: RunOptions,
): Promise<ReadonlySet<unknown>> => groupNames(await client.getRaw('/apis', run));

/** A client that asks for the API groups once. An answer without groups isn't one. */
export function askingGroupsOnce(client: Pick<KubeClient, 'getRaw'>): Pick<KubeClient, 'getRaw'> {
  let groups: unknown;
  return {
    getRaw: async (path, run) => {
      if (path !== '/apis') return client.getRaw(path, run);
      if (groupNames(groups).size === 0) groups = await client.getRaw(path, run);
      return groups;
    },
  };
}

/** @param groupList the answer to `/apis`: a metav1.APIGroupList, or anything else, which has no names */
export function groupNames(groupList: unknown): ReadonlySet<unknown> {
  const { groups } = asRecord(groupList);
  return new Set(Array.isArray(groups) ? groups.map((group) => asRecord(group)['name']) : []);
}
