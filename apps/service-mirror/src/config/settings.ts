import { localReference, type RemoteList, type RemoteReference } from '@kube-semaphore/multicluster';
import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { Cidr, IpFamily } from '@kube-semaphore/net';
import type { ClusterProperties, KnownClusters } from '../endpoints/desired/routing/levels.ts';
import type { Importer } from '../endpoints/remote/export-to.ts';
import type { OrderSettings } from './cluster-order.ts';
import type { McsSettings } from './mcs.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { MirrorOptions } from './options.ts';

/** The local cluster. */
type LocalSettings = {
  readonly name: string;
  readonly reference: ClusterReference;
  /** The zones of its Nodes, each once, in the order of the file; empty if the file doesn't say. */
  readonly zones: readonly string[];
  /** Addresses that no remote may announce. */
  readonly cidrs: readonly Cidr[];
  /** For orders of clusters, as those of each remote, and for exports that name their importers. */
  readonly properties: ClusterProperties;
};

/** Which Services are global, and where their traffic goes. */
export type GlobalSettings = {
  /** For Services of all clusters. */
  readonly selector: string;
  /** A selector for Services whose traffic goes to local endpoints first; undefined for no such Services. */
  readonly routingStrategyLabel: string | undefined;
  /** Which global services have hints: those with the routing-strategy label, or all. */
  readonly hints: 'labelled' | 'always';
  /** Which clusters answer; these overrule the Services' own orders. */
  readonly clusterOrder: OrderSettings;
  /** Whether EndpointSlices without a source are removed. */
  readonly slicesSync: boolean;
};

/** One remote cluster, from flags or from a file. */
export type RemoteSettings = {
  readonly name: string;
  /** The start of its mirrors' names. */
  readonly prefix: string;
  readonly reference: RemoteReference;
  /** Of the addresses that it may announce; undefined: both. */
  readonly families: readonly IpFamily[] | undefined;
  /** The addresses that it may announce, of these families; undefined for all. */
  readonly allowedPodCidrs: readonly Cidr[] | undefined;
  readonly properties: ClusterProperties;
  /** The namespaces whose Services may be mirrored or global here; undefined: all. */
  readonly mirrorNamespaces: readonly string[] | undefined;
  /** 0 is never. */
  readonly resyncPeriodMs: number;
  /** After how long without an answer it is stale; 0 is never. */
  readonly staleAfterMs: number;
  /** What happens to its endpoints in global services while it is stale. */
  readonly staleAction: 'unready' | 'remove' | 'keep';
  /** Whether endpoints on nodes that semaphore-wireguard doesn't reach are used last. */
  readonly gateByTunnel: boolean;
};

/** The local cluster, and what is mirrored, from flags or from a file: what is fixed while the app runs. */
export type Settings = {
  readonly local: LocalSettings;
  readonly mirrorNamespace: string;
  /** A selector for remote Services to mirror. */
  readonly mirrorSelector: string;
  /** Undefined without global services. */
  readonly global: GlobalSettings | undefined;
  /** Undefined without Multi-Cluster Services. */
  readonly mcs: McsSettings | undefined;
  /** Whether mirrors without a source are removed. */
  readonly serviceSync: boolean;
};

/** What flags or a file say at one time. */
export type AllSettings = Settings & {
  /** At least one, unless there is an inventory; names and prefixes are unique. */
  readonly remotes: readonly RemoteSettings[];
};

/** The remotes of the config now, as far as decisions need them. */
export type PrefixList = RemoteList<Pick<RemoteSettings, 'name' | 'prefix'>>;

const prefixesIn = memoize(
  (all: PrefixList['all']): ReadonlyMap<string, string> =>
    new Map(all.map(({ settings: { name, prefix } }) => [name, prefix])),
);

/** The prefixes of the remotes, by cluster. A list has the same map each time. */
export const prefixesOf = ({ all }: PrefixList): ReadonlyMap<string, string> => prefixesIn(all);

type NamedLocal = Pick<LocalSettings, 'name' | 'properties'>;
type NamedList = RemoteList<Pick<RemoteSettings, 'name' | 'properties'>>;

type Found = ReadonlyMap<string, ClusterProperties>;

const clustersBeside = memoize((local: NamedLocal, all: NamedList['all'], found: Found): KnownClusters => {
  const clusters = [local, ...all.map(({ settings }) => settings)];
  return {
    local: local.name,
    properties: new Map(clusters.map(({ name, properties }) => [name, ofConfigFirst(properties, found.get(name))])),
    unread: new Set(clusters.flatMap(({ name }) => (found.has(name) ? [] : [name]))),
  };
});

/** @param found what a cluster says of itself, which the config overrules; undefined: it has said nothing */
const ofConfigFirst = memoize(
  (properties: ClusterProperties, found: ClusterProperties | undefined): ClusterProperties =>
    new Map([...(found ?? []), ...properties]),
);

/** The clusters of the config now. @param found what each says of itself; one that is missing has not said it yet */
export const knownClusters = (local: NamedLocal, { all }: NamedList, found: Found): KnownClusters =>
  clustersBeside(local, all, found);

/** The local cluster's name in logs and metrics if the config has none; then no object contains it. */
export const UNNAMED = 'local';

/** The local cluster, for those who export to some clusters only. */
export const importerOf = ({ local }: Pick<Settings, 'local'>, said: { readonly found: Found }): Importer => ({
  name: local.name === UNNAMED ? undefined : local.name,
  get properties() {
    return ofConfigFirst(local.properties, said.found.get(local.name));
  },
});

/** Settings from the flags for one remote, which are validated to be complete. Its prefix is also its name. */
export function settingsOfOptions(options: MirrorOptions): AllSettings {
  return {
    local: {
      name: UNNAMED,
      reference: localReference(options.kubeConfig),
      zones: [],
      cidrs: options.localCidrs ?? [],
      properties: new Map(),
    },
    mirrorNamespace: options.mirrorNs!,
    mirrorSelector: options.labelSelector!,
    global: undefined,
    mcs: undefined,
    serviceSync: options.svcSync,
    remotes: [
      {
        name: options.svcPrefix!,
        prefix: options.svcPrefix!,
        reference: onlyRemote(options),
        families: undefined,
        allowedPodCidrs: options.allowedPodCidrs,
        properties: new Map(),
        mirrorNamespaces: undefined,
        resyncPeriodMs: options.resyncPeriodMs,
        staleAfterMs: 0,
        staleAction: 'unready',
        gateByTunnel: false,
      },
    ],
  };
}

function onlyRemote({
  targetKubeConfig,
  remoteApiUrl,
  remoteCaUrl,
  remoteCaCertHash,
  remoteSaTokenPath,
  remoteSaToken,
}: MirrorOptions): ClusterReference {
  if (targetKubeConfig !== undefined) return { kind: 'kubeconfig', path: targetKubeConfig };
  const token = remoteSaTokenPath === undefined ? { value: remoteSaToken! } : { path: remoteSaTokenPath };
  return { kind: 'api-server', apiUrl: remoteApiUrl!, caUrl: remoteCaUrl!, caHashes: remoteCaCertHash, token };
}
