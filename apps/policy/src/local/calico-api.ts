import { untilAnswered, type UntilAnsweredOptions } from '@kube-semaphore/multicluster';
import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { asRecord, type CalicoApi } from '@kube-semaphore/kube-objects';
import type { Logger } from '@kube-semaphore/runtime';

/** The custom resource that Calico keeps its own kind in. */
const STORED: CalicoApi = 'crd.projectcalico.org/v1';

/**
 * By which API to write sets: Calico's own where it is served, else the custom resource behind it; and that one, too,
 * where our role names no other, as those of the first Go releases don't. Only an answer decides, so that an aggregated
 * API server that is down for a moment (503) doesn't make us go past it: until there is one, it is asked for again and
 * again.
 *
 * @throws the signal's reason when that is aborted
 */
export async function discoverCalicoApi(
  client: Pick<KubeClient, 'getRaw'>,
  options: UntilAnsweredOptions,
): Promise<CalicoApi> {
  const { signal } = options;
  return untilAnswered(async () => {
    const api = chooseCalicoApi(await client.getRaw('/apis', { signal }));
    if (api === STORED || (await mayList(client, api, signal)) || !(await mayList(client, STORED, signal))) return api;
    // Asked once more, for a server that has just started forbids everything until it has read its roles.
    return (await mayList(client, api, signal)) ? api : STORED;
  }, options);
}

/** The API that an option names, or the one that is found; told in the log. @param onFailure as of `untilAnswered` */
export async function chosenCalicoApi(
  option: CalicoApi | 'auto',
  client: Pick<KubeClient, 'getRaw'>,
  { signal, log, onFailure }: RunOptions & { readonly log: Logger; readonly onFailure: (error: unknown) => void },
): Promise<CalicoApi> {
  if (option !== 'auto') return option;
  let told = false;
  const api = await discoverCalicoApi(client, {
    signal,
    onFailure: (error) => {
      onFailure(error);
      log[told ? 'debug' : 'warn']({ cluster: 'local', error }, 'API groups not listed, will try again');
      told = true;
    },
  });
  log.info({ api }, 'Calico API chosen');
  return api;
}

/** Whether there are GlobalNetworkSets for us under an API: 403 and 404 say no, any other failure says nothing. */
async function mayList(client: Pick<KubeClient, 'getRaw'>, api: CalicoApi, signal: AbortSignal): Promise<boolean> {
  try {
    await client.getRaw(`/apis/${api}/globalnetworksets?limit=1`, { signal });
    return true;
  } catch (error) {
    if (error instanceof KubeApiError && [403, 404].includes(error.status)) return false;
    throw error;
  }
}

/** @param groupList the answer to `/apis`: a metav1.APIGroupList, or whatever else the server sent */
export function chooseCalicoApi(groupList: unknown): CalicoApi {
  const { groups } = asRecord(groupList);
  if (!Array.isArray(groups)) throw new Error('the answer to /apis is no APIGroupList');
  const calico = asRecord(groups.find((group) => asRecord(group)['name'] === 'projectcalico.org'));
  const served =
    Array.isArray(calico['versions']) && calico['versions'].some((version) => asRecord(version)['version'] === 'v3');
  return served ? 'projectcalico.org/v3' : STORED;
}
