import {
  addressFields,
  durationField,
  familiesField,
  hasRemotes,
  parseConfigFile,
  type ParsedFile,
  type RemoteAddress,
  remotesFrom,
} from '@kube-semaphore/multicluster';
import * as z from 'zod/mini';

const text = z.optional(z.string());
const flag = z.optional(z.boolean());
const texts = z.record(z.string(), z.string());
const clusterOrder = z.optional(z.union([z.string(), texts], 'it is neither an order nor orders by "namespace/name"'));

/** An empty text is the same as none, as in the Go program. `settingsOfFile` checks what is required. */
const globalSection = z.strictObject({
  globalSvcLabelSelector: text,
  globalSvcRoutingStrategyLabel: text,
  /** An older spelling of `globalSvcRoutingStrategyLabel`. */
  globalSvcTopologyLabel: text,
  /** What a release of the Go program read instead of `globalSvcRoutingStrategyLabel`, although its README named that. */
  globalSvcRoutingStrategy: text,
  mirrorSvcLabelSelector: text,
  /** An older spelling of `mirrorSvcLabelSelector`. */
  labelSelector: text,
  mirrorNamespace: text,
  serviceSync: flag,
  endpointSliceSync: flag,
  globalSvcHints: text,
  clusterOrder,
});

const localCluster = z.strictObject({
  name: text,
  zones: z.optional(z.array(z.string())),
  cidrs: z.optional(z.array(z.string())),
  properties: z.optional(texts),
  kubeConfigPath: text,
});

const remoteCluster = z.strictObject({
  name: text,
  ...addressFields,
  /** What the Go program's README calls `remoteSATokenPath`. */
  remoteSATokenPiath: text,
  resyncPeriod: durationField,
  servicePrefix: text,
  properties: z.optional(texts),
  families: familiesField,
  allowedPodCIDRs: z.optional(z.array(z.string())),
  mirrorNamespaces: z.optional(z.array(z.string())),
  staleAfter: durationField,
  staleAction: text,
  gateByTunnel: flag,
});

/** Multi-Cluster Services (KEP-1645). */
const mcsSection = z.strictObject({
  derivedServices: text,
  namespaces: z.optional(z.array(z.string())),
  exportedLabelPrefixes: z.optional(z.array(z.string())),
  localFirst: flag,
  clusterOrder,
});

/** Exported for its test. */
export const configFile = z
  .strictObject({
    global: z.optional(globalSection),
    localCluster: z.optional(localCluster),
    mcs: z.optional(mcsSection),
    remoteClusters: z._default(z.array(remoteCluster), []),
    remotesFrom,
  })
  .check(hasRemotes('remoteClusters'));

/** The file of `-config`. */
export type ConfigFile = z.infer<typeof configFile>;
export type GlobalSection = NonNullable<ConfigFile['global']>;
export type McsSection = NonNullable<ConfigFile['mcs']>;
export type LocalEntry = NonNullable<ConfigFile['localCluster']>;
/** A remote of the file, or of an inventory. */
export type RemoteEntry = ConfigFile['remoteClusters'][number] & Pick<RemoteAddress, 'context'>;

/** Reads the file of `-config`: that of the Go program, with more fields. */
export function parseMirrorFile(source: string): ParsedFile<ConfigFile> {
  return parseConfigFile(source, configFile, { unknownKeys: 'warning' });
}
