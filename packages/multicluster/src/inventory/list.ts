import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { clusterProfileKind, Codec } from '@kube-semaphore/kube-objects';
import { listAll } from '../list-all.ts';
import { storedProfile, type StoredProfile } from './profile.ts';
import type { InventorySettings } from './settings.ts';

/**
 * The profiles of an inventory at this moment, for a command that runs once.
 *
 * @param settings undefined: the config names no inventory
 * @throws KubeApiError, ConnectionError; but without the kind (404) there is no profile
 */
export async function listProfiles(
  client: Pick<KubeClient, 'list'>,
  settings: InventorySettings | undefined,
  { signal }: RunOptions,
): Promise<readonly StoredProfile[]> {
  if (settings === undefined) return [];
  const { namespace, selector } = settings;
  const selection = { namespace, ...(selector !== undefined && { labelSelector: selector }), signal };
  try {
    return (await listAll(client, new Codec(clusterProfileKind), selection)).map(storedProfile);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    return [];
  }
}
