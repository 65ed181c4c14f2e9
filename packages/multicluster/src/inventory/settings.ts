import { isDnsLabel } from '@kube-semaphore/naming';
import * as z from 'zod/mini';

const clusterProfiles = z.strictObject({
  /** Of the local cluster. */
  namespace: z.string().check(z.refine(isDnsLabel, 'it is not the name of a namespace')),
  /** A label selector; absent: all. */
  selector: z.optional(z.string()),
  /** Names the plugins that give credentials. */
  providersFile: z.string().check(z.minLength(1)),
});

const inventories = z.strictObject({ clusterProfiles });

/** The field of config files that names an inventory: its clusters become remotes. */
export const remotesFrom = z.optional(inventories);

export type RemotesFrom = z.infer<typeof inventories>;
export type InventorySettings = z.infer<typeof clusterProfiles>;

/** A file has remotes itself, from an inventory, or both. @param list the name of the field */
export const hasRemotes = <L extends string>(list: L) =>
  z.refine<Readonly<Record<L, readonly unknown[]>> & { readonly remotesFrom?: unknown }>(
    (file) => file[list].length > 0 || file.remotesFrom !== undefined,
    { path: [list], message: 'it has no remote: name one, or an inventory in remotesFrom' },
  );
