import { caCertHash, parseConfigFile, type ParsedFile } from '@kube-semaphore/multicluster';
import * as z from 'zod/mini';

const text = z.optional(z.string());
const flag = z.optional(z.boolean());
/** Go's: a text like `1h`, or nanoseconds. */
const period = z.optional(
  z.union([z.string(), z.number()], 'it is neither a text like "1h" nor a number of nanoseconds'),
);

/** What the file of `-config` may say. An empty text is as good as none, as in the Go program; what is required is for `settings.ts` to say. */
const globalSection = z.strictObject({
  globalSvcLabelSelector: text,
  globalSvcRoutingStrategyLabel: text,
  /** An older spelling of `globalSvcRoutingStrategyLabel`. */
  globalSvcTopologyLabel: text,
  /** What a Go program read for a while in the place of `globalSvcRoutingStrategyLabel`, whatever its README said. */
  globalSvcRoutingStrategy: text,
  mirrorSvcLabelSelector: text,
  /** An older spelling of `mirrorSvcLabelSelector`. */
  labelSelector: text,
  mirrorNamespace: text,
  serviceSync: flag,
  endpointSliceSync: flag,
  globalSvcHints: text,
});

const localCluster = z.strictObject({
  name: text,
  zones: z.optional(z.array(z.string())),
  cidrs: z.optional(z.array(z.string())),
  kubeConfigPath: text,
});

const remoteCluster = z.strictObject({
  name: text,
  kubeConfigPath: text,
  remoteAPIURL: text,
  remoteCAURL: text,
  remoteCACertHash: caCertHash,
  remoteSATokenPath: text,
  /** What the Go program's README calls `remoteSATokenPath`. */
  remoteSATokenPiath: text,
  resyncPeriod: period,
  servicePrefix: text,
  allowedPodCIDRs: z.optional(z.array(z.string())),
  staleAfter: period,
  staleAction: text,
});

const configFile = z.strictObject({
  global: z.optional(globalSection),
  localCluster: z.optional(localCluster),
  remoteClusters: z.array(remoteCluster).check(z.minLength(1)),
});

/** The file of `-config`. */
export type ConfigFile = z.infer<typeof configFile>;
export type GlobalSection = NonNullable<ConfigFile['global']>;
export type LocalEntry = NonNullable<ConfigFile['localCluster']>;
export type RemoteEntry = ConfigFile['remoteClusters'][number];

/** Reads the file of `-config`, which is that of the Go program and more. */
export function parseMirrorFile(source: string): ParsedFile<ConfigFile> {
  return parseConfigFile(source, configFile, { unknownKeys: 'warning' });
}
