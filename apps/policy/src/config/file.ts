import {
  addressFields,
  durationField,
  familiesField,
  hasRemotes,
  type RemoteAddress,
  remotesFrom,
} from '@kube-semaphore/multicluster';
import * as z from 'zod/mini';

/** An empty text is the same as none, as in the files of the Go programs. */
const remote = z.strictObject({
  name: z.string(),
  clusterSetID: z.optional(z.string()),
  labels: z.optional(z.record(z.string(), z.string())),
  ...addressFields,
  families: familiesField,
  allowedPodCIDRs: z.optional(z.array(z.string())),
  podResyncPeriod: durationField,
});

/** The file of `-config`. */
export const configFileSchema = z
  .strictObject({
    local: z.optional(
      z.strictObject({ kubeConfigPath: addressFields.kubeConfigPath, cidrs: z.optional(z.array(z.string())) }),
    ),
    remotes: z._default(z.array(remote), []),
    remotesFrom,
  })
  .check(hasRemotes('remotes'));

export type ConfigFile = z.infer<typeof configFileSchema>;
/** A remote of the file, or of an inventory. */
export type RemoteEntry = ConfigFile['remotes'][number] & Pick<RemoteAddress, 'context'>;
