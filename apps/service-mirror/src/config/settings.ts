import { localReference } from '@kube-semaphore/multicluster';
import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { Cidr } from '@kube-semaphore/net';
import type { MirrorOptions } from './options.ts';

/** The local cluster. */
type LocalSettings = {
  readonly name: string;
  readonly reference: ClusterReference;
  /** Where its Nodes are, each once, in the order of the file; empty: nobody said. */
  readonly zones: readonly string[];
  /** No remote may bring in an address in them. */
  readonly cidrs: readonly Cidr[];
};

/** What global services are made of, and how their traffic goes. */
export type GlobalSettings = {
  /** Services of all clusters that take part. */
  readonly selector: string;
  /** A selector: Services whose traffic goes to local endpoints first. Undefined: none do by their label. */
  readonly routingStrategyLabel: string | undefined;
  /** Which global services have hints: those with the routing-strategy label, or all. */
  readonly hints: 'labelled' | 'always';
  /** Whether EndpointSlices without a source are removed. */
  readonly slicesSync: boolean;
};

/** One remote cluster, wherever it was configured. */
export type RemoteSettings = {
  readonly name: string;
  /** What the names of its mirrors begin with. */
  readonly prefix: string;
  readonly reference: ClusterReference;
  /** The addresses that it may bring into local slices; all of them without. */
  readonly allowedPodCidrs: readonly Cidr[] | undefined;
  /** 0 is never. */
  readonly resyncPeriodMs: number;
  /** A remote that wasn't seen for so long is stale; 0 is never. */
  readonly staleAfterMs: number;
  /** What becomes of the endpoints of a stale remote in global services. */
  readonly staleAction: 'unready' | 'remove' | 'keep';
};

/** Which clusters there are, and what of them is mirrored; from the flags for one remote, or from a file. */
export type Settings = {
  readonly local: LocalSettings;
  /** Where our Services are, in the local cluster. */
  readonly mirrorNamespace: string;
  /** A selector: remote Services that are mirrored. */
  readonly mirrorSelector: string;
  /** Undefined: there are no global services. */
  readonly global: GlobalSettings | undefined;
  /** Whether mirrors without a source are removed. */
  readonly serviceSync: boolean;
  /** At least one; names and prefixes are unique. */
  readonly remotes: readonly RemoteSettings[];
};

/** The prefixes of the remotes, by cluster. */
export const prefixesOf = ({ remotes }: Pick<Settings, 'remotes'>): ReadonlyMap<string, string> =>
  new Map(remotes.map(({ name, prefix }) => [name, prefix]));

/** What logs and metrics call a local cluster that nobody gave a name: nothing that we write has one then. */
export const UNNAMED = 'local';

/** Settings of the flags for one remote, which were validated to be complete. The prefix is its name, too. */
export function settingsOfOptions(options: MirrorOptions): Settings {
  return {
    local: { name: UNNAMED, reference: localReference(options.kubeConfig), zones: [], cidrs: options.localCidrs ?? [] },
    mirrorNamespace: options.mirrorNs!,
    mirrorSelector: options.labelSelector!,
    global: undefined,
    serviceSync: options.svcSync,
    remotes: [
      {
        name: options.svcPrefix!,
        prefix: options.svcPrefix!,
        reference: onlyRemote(options),
        allowedPodCidrs: options.allowedPodCidrs,
        resyncPeriodMs: options.resyncPeriodMs,
        staleAfterMs: 0,
        staleAction: 'unready',
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
