import { caCertHash } from '@kube-semaphore/multicluster';
import * as z from 'zod/mini';

const text = z.optional(z.string());

/** What the file of `-config` may say. An empty text is as good as none, as in the files of the Go programs. */
const remote = z.strictObject({
  name: z.string(),
  kubeConfigPath: text,
  remoteAPIURL: text,
  remoteCAURL: text,
  remoteCACertHash: caCertHash,
  remoteSATokenPath: text,
  allowedPodCIDRs: z.optional(z.array(z.string())),
  /** Go's: a text like `1h`, or nanoseconds. */
  podResyncPeriod: z.optional(z.union([z.string(), z.number()])),
});

/** The file of `-config`. */
export const configFileSchema = z.strictObject({
  local: z.optional(z.strictObject({ kubeConfigPath: text, cidrs: z.optional(z.array(z.string())) })),
  remotes: z.array(remote).check(z.minLength(1)),
});

export type ConfigFile = z.infer<typeof configFileSchema>;
export type RemoteEntry = ConfigFile['remotes'][number];
