import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { CalicoApi } from '@kube-semaphore/kube-objects';

/**
 * By which API to write sets: Calico's own where it is served, else the custom resource behind it. Only a successful
 * answer decides, so that an aggregated API server that is down for a moment (503) doesn't make us go past it: until
 * there is one, it is asked for again and again.
 *
 * @param onFailure called with each attempt that failed
 * @throws the signal's reason when that is aborted
 */
export async function discoverCalicoApi(
  client: Pick<KubeClient, 'getRaw'>,
  { signal, onFailure, retryMs = 1_000 }: RunOptions & { readonly onFailure: (error: unknown) => void; readonly retryMs?: number },
): Promise<CalicoApi> {
  for (;;) {
    try {
      return chooseCalicoApi(await client.getRaw('/apis', { signal }));
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
    }
    await delay(retryMs, undefined, { signal });
  }
}

/** @param groupList the answer to `/apis`: a metav1.APIGroupList, or whatever else the server sent */
export function chooseCalicoApi(groupList: unknown): CalicoApi {
  const { groups } = asRecord(groupList);
  if (!Array.isArray(groups)) throw new Error('the answer to /apis is no APIGroupList');
  const calico = asRecord(groups.find((group) => asRecord(group)['name'] === 'projectcalico.org'));
  const served = Array.isArray(calico['versions']) && calico['versions'].some((version) => asRecord(version)['version'] === 'v3');
  return served ? 'projectcalico.org/v3' : 'crd.projectcalico.org/v1';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
