import { type Cidr, familyNamed, parseCidr } from '@kube-semaphore/net';
import * as z from 'zod/mini';
import { writtenIn } from '../choices.ts';
import type { Files } from './folder.ts';
import { jsonIn } from './json-file.ts';
import type { KnownRemote } from './kustomize.ts';

const apps = ['policy', 'service-mirror', 'wireguard'] as const;

/** An app with a config file. */
export type App = (typeof apps)[number];

const texts = z.optional(z.readonly(z.array(z.string())));

/** Fields that a user adds stay. */
const entry = z.looseObject({
  name: z.string(),
  remoteAPIURL: z.optional(z.string()),
  families: z.optional(z.readonly(z.array(z.enum(['ipv4', 'ipv6'])))),
  allowedPodCIDRs: texts,
  podSubnet: z.optional(z.union([z.string(), z.readonly(z.array(z.string()))])),
  allowedEndpointCIDRs: texts,
  wgListenPort: z.optional(z.number()),
  deviceName: z.optional(z.string()),
});
const local = z.optional(z.looseObject({ cidrs: texts }));
const configFile = z.looseObject({
  local,
  localCluster: local,
  remotes: z.optional(z.array(entry)),
  remoteClusters: z.optional(z.array(entry)),
});

/** A remote in a file. */
export type Entry = z.infer<typeof entry>;

/** The local cluster in a file. */
export type LocalSection = z.infer<typeof local>;

type ConfigFile = z.infer<typeof configFile>;

/** The remotes in the files of a cluster. @throws {Error} if a file is not valid */
export function knownRemotes(files: Files): readonly KnownRemote[] {
  // The other files have the same remotes, but they must be valid, too, before anything is written.
  for (const app of apps) entriesIn(files, app);
  const { endpointCIDRs = {} } = writtenIn(files);
  return entriesIn(files, 'service-mirror').map((each) => ({
    ...podsOf(each),
    server: each.remoteAPIURL,
    families: each.families?.map(familyNamed),
    nodeCidrs: cidrsOf(endpointCIDRs[each.name]),
  }));
}

/** The ranges of a remote's Pods. */
export const podsOf = ({ name, allowedPodCIDRs }: Entry): Pick<KnownRemote, 'name' | 'podCidrs'> => ({
  name,
  podCidrs: cidrsOf(allowedPodCIDRs),
});

/** The valid ones. */
export const cidrsOf = (all: readonly string[] = []): readonly Cidr[] =>
  all.map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : []));

/** The remotes in the file of an app. @throws {Error} if it is not valid */
export function entriesIn(files: Files, app: App): readonly Entry[] {
  const { remotes, remoteClusters } = parsed(files, app);
  return remoteClusters ?? remotes ?? [];
}

/** The file of an app as it is: the schema would sort its keys. */
function parsed(files: Files, app: App): ConfigFile {
  const name = `${app}.json`;
  jsonIn(files, name, configFile);
  return JSON.parse(files.get(name) ?? '{}') as ConfigFile;
}

/** What a user changed in a file, except for the remotes. */
export function rest(files: Files, app: App): Pick<ConfigFile, 'local' | 'localCluster'> {
  const { remotes: _remotes, remoteClusters: _remoteClusters, ...others } = parsed(files, app);
  return others;
}

/** A field of a cluster's files that may have ranges. */
export type RangeField = {
  readonly file: string;
  readonly field: 'local.cidrs' | 'localCluster.cidrs' | 'allowedPodCIDRs' | 'podSubnet' | 'allowedEndpointCIDRs';
  /** Whose ranges they are; undefined: of the cluster itself. */
  readonly remote?: string;
  /** Undefined: no limit. */
  readonly ranges: readonly string[] | undefined;
};

/** These fields in the files of a cluster. @throws {Error} if a file is not valid */
export const rangeFields = (files: Files): readonly RangeField[] =>
  apps
    .filter((app) => files.has(`${app}.json`))
    .flatMap((app) => {
      const file = `${app}.json`;
      const config = parsed(files, app);
      return [
        { file, field: 'local.cidrs', ranges: config.local?.cidrs },
        { file, field: 'localCluster.cidrs', ranges: config.localCluster?.cidrs },
        ...entriesIn(files, app).flatMap(({ name, podSubnet, allowedPodCIDRs, allowedEndpointCIDRs }): RangeField[] => [
          { file, remote: name, field: 'allowedPodCIDRs', ranges: allowedPodCIDRs },
          { file, remote: name, field: 'podSubnet', ranges: typeof podSubnet === 'string' ? [podSubnet] : podSubnet },
          { file, remote: name, field: 'allowedEndpointCIDRs', ranges: allowedEndpointCIDRs },
        ]),
      ];
    });
