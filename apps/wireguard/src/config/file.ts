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
const number = z.optional(z.number());
const texts = z.optional(z.array(z.string()));

/** An empty text, and a 0, are the same as none, as in the Go program. */
const local = z.strictObject({ name: text, kubeConfigPath: text });

const keyRotation = z.strictObject({ every: durationField, secondPort: number, secondDeviceName: text });

const remote = z.strictObject({
  name: text,
  ...addressFields,
  families: familiesField,
  podSubnet: z.optional(z.union([z.string(), z.array(z.string())])),
  wgDeviceMTU: z.optional(z.union([z.number(), z.string()])),
  wgListenPort: number,
  resyncPeriod: durationField,
  deviceName: text,
  endpointFamily: text,
  endpointFrom: text,
  dialOut: z.optional(z.boolean()),
  allowedIPsFrom: text,
  allowedEndpointCIDRs: texts,
  deviceAddress: text,
  keyRotation: z.optional(keyRotation),
  reportSilentAfter: durationField,
});

/** Exported for its test. */
export const clustersFile = z
  .strictObject({
    local: z.optional(local),
    remotes: z._default(z.array(remote), []),
    remotesFrom,
  })
  .check(hasRemotes('remotes'));

/** The file of `-clusters-config`. */
export type ClustersFile = z.infer<typeof clustersFile>;
/** A remote of the file, or of an inventory. */
export type RemoteEntry = ClustersFile['remotes'][number] & Pick<RemoteAddress, 'context'>;

/** Reads the file of `-clusters-config`: that of the Go program, with more fields. */
export function parseClustersFile(source: string): ParsedFile<ClustersFile> {
  return parseConfigFile(source, clustersFile, { unknownKeys: 'warning' });
}
