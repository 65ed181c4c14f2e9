import { untilAnswered, type UntilAnsweredOptions } from '@kube-semaphore/multicluster';
import { KubeApiError, type KubeClient } from '@kube-semaphore/kube-client';
import { asRecord, type CalicoApi } from '@kube-semaphore/kube-objects';
import { groupNames } from './api-groups.ts';

/** The custom resource in which Calico stores its own kind. */
const STORED: CalicoApi = 'crd.projectcalico.org/v1';

export type CalicoApiOptions = UntilAnsweredOptions & {
  /** Whether a cluster without Calico is fine, too. */
  readonly isOptional?: boolean;
};

/**
 * The API by which to write sets: that of an option; for `auto` Calico's own if it is served, else the custom resource behind
 * it. It is also the custom resource if our role names no other API, as the roles of the first Go releases. Only an answer
 * decides: an aggregated API server that is away for a moment (503) is asked again.
 *
 * @returns undefined if the cluster has no API group of Calico, and `isOptional` says that this is fine
 * @throws the signal's reason when that is aborted
 */
export async function calicoApiOf(
  option: CalicoApi | 'auto',
  client: Pick<KubeClient, 'getRaw'>,
  options: CalicoApiOptions,
): Promise<CalicoApi | undefined> {
  if (option !== 'auto') return option;
  const { signal, isOptional = false } = options;
  return untilAnswered(async () => {
    const groups = await client.getRaw('/apis', { signal });
    const api = chooseCalicoApi(groups);
    if (isOptional && !hasCalico(groups)) return undefined;
    if (api === STORED || (await mayList(client, api, signal)) || !(await mayList(client, STORED, signal))) return api;
    // Asked once more: a server that has just started forbids everything until it has read its roles.
    return (await mayList(client, api, signal)) ? api : STORED;
  }, options);
}

/** Whether we may list GlobalNetworkSets under an API. No after 403 and 404; any other failure doesn't decide. */
async function mayList(client: Pick<KubeClient, 'getRaw'>, api: CalicoApi, signal: AbortSignal): Promise<boolean> {
  try {
    await client.getRaw(`/apis/${api}/globalnetworksets?limit=1`, { signal });
    return true;
  } catch (error) {
    if (error instanceof KubeApiError && [403, 404].includes(error.status)) return false;
    throw error;
  }
}

/** @param groupList as of `chooseCalicoApi` */
function hasCalico(groupList: unknown): boolean {
  const names = groupNames(groupList);
  return names.has('projectcalico.org') || names.has('crd.projectcalico.org');
}

/** @param groupList the answer to `/apis`: a metav1.APIGroupList, or anything else */
export function chooseCalicoApi(groupList: unknown): CalicoApi {
  const { groups } = asRecord(groupList);
  if (!Array.isArray(groups)) throw new Error('the answer to /apis is not an APIGroupList');
  const calico = asRecord(groups.find((group) => asRecord(group)['name'] === 'projectcalico.org'));
  const served =
    Array.isArray(calico['versions']) && calico['versions'].some((version) => asRecord(version)['version'] === 'v3');
  return served ? 'projectcalico.org/v3' : STORED;
}
