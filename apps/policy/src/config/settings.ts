import {
  durationOf,
  localReference,
  Problems,
  type ProfileRemote,
  referenceOfFlags,
  type RemoteReference,
  remoteReference,
} from '@kube-semaphore/multicluster';
import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import { type Cidr, type IpFamily, overlappingBlocks, type Parsed } from '@kube-semaphore/net';
import type { ConfigFile, RemoteEntry } from './file.ts';
import { type ClusterIds, configLabelPrefix, type Labels } from '@kube-semaphore/network-policies';
import { clusterName, labelKey, labelValue } from './option-types.ts';
import type { PolicyOptions } from './options.ts';

/** One remote cluster, from flags or a config file. */
export type RemoteSettings = {
  readonly name: string;
  /** How the cluster label of NetworkPolicies names it. */
  readonly clusterSetId: string;
  /** Labels of all its namespaces, for NetworkPolicies. */
  readonly labels: Labels;
  readonly reference: RemoteReference;
  /** Of the addresses that it can bring into local sets; undefined: both. */
  readonly families: readonly IpFamily[] | undefined;
  /** The addresses that it can bring into local sets, of these families; undefined: all. */
  readonly allowedPodCidrs: readonly Cidr[] | undefined;
  /** 0 is never. */
  readonly podResyncPeriodMs: number;
};

/** The clusters. */
export type Settings = {
  readonly local: ClusterReference;
  /** Of the local cluster: no remote can bring in an address in them. */
  readonly localCidrs: readonly Cidr[];
  readonly remotes: readonly RemoteSettings[];
};

/** The cluster label, and its values. */
export const clusterIdsOf = (
  { clusterSetKey, localClusterName }: Pick<PolicyOptions, 'clusterSetKey' | 'localClusterName'>,
  remotes: readonly Pick<RemoteSettings, 'clusterSetId'>[],
): ClusterIds => ({
  key: clusterSetKey,
  remotes: new Set(remotes.map(({ clusterSetId }) => clusterSetId)),
  local: localClusterName,
});

/** Settings of the flags for one remote, which were validated to be complete. */
export function settingsOfOptions(options: PolicyOptions): Settings {
  const { localKubeConfig, localCidrs = [], targetClusterName, allowedPodCidrs, podResyncPeriodMs } = options;
  const reference = referenceOfFlags(options);
  return {
    local: localReference(localKubeConfig),
    localCidrs,
    remotes: [
      {
        name: targetClusterName!,
        clusterSetId: targetClusterName!,
        labels: {},
        reference,
        families: undefined,
        allowedPodCidrs,
        podResyncPeriodMs,
      },
    ],
  };
}

/**
 * Settings of a config file. For the local cluster, a flag or variable overrides the file.
 *
 * @param inventory what its inventory has
 * @returns every problem, each with its field
 */
export function settingsOfFile(
  { local, remotes: entries }: ConfigFile,
  options: Pick<
    PolicyOptions,
    'localKubeConfig' | 'localCidrs' | 'podResyncPeriodMs' | 'networkPolicies' | 'localClusterName'
  >,
  inventory: readonly ProfileRemote[] = [],
): { readonly ok: true; readonly value: Settings } | { readonly ok: false; readonly problems: readonly string[] } {
  const remotes: readonly RemoteEntry[] = [
    ...entries,
    ...inventory.map(({ name, reference: context, allowedPodCIDRs }) => {
      return { name, context, allowedPodCIDRs: [...allowedPodCIDRs] };
    }),
  ];
  const found = new Problems();
  const { problems } = found;
  const localCidrs = found.cidrs('local.cidrs', local?.cidrs ?? []);
  const settings = remotes.map((entry, i) => remoteSettings(entry, { at: `remotes[${i}]`, options, found }));
  found.unique(remotes, { 'remotes: name': ({ name }) => name });
  if (options.networkPolicies) {
    found.unique(settings, { 'remotes: clusterSetID': ({ clusterSetId }) => clusterSetId });
    problems.push(...networkPolicyProblems(settings));
    const us = settings.findIndex(({ clusterSetId }) => clusterSetId === options.localClusterName);
    if (us >= 0) problems.push(`remotes[${us}].clusterSetID: ${options.localClusterName} is -local-cluster-name`);
  }
  if (problems.length > 0) return { ok: false, problems };
  const reference = localReference(options.localKubeConfig ?? local?.kubeConfigPath);
  return { ok: true, value: { local: reference, localCidrs: options.localCidrs ?? localCidrs, remotes: settings } };
}

type Context = { at: string; options: Pick<PolicyOptions, 'podResyncPeriodMs'>; found: Problems };

function remoteSettings(entry: RemoteEntry, { at, options, found }: Context): RemoteSettings {
  const check = <T>(field: string, parsed: Parsed<T>, fallback: T): T =>
    found.check(`${at}.${field}`, parsed, fallback);
  const { podResyncPeriod, clusterSetID, labels = {} } = entry;
  return {
    name: check('name', clusterName.parse(entry.name), entry.name),
    clusterSetId: clusterSetID === undefined ? entry.name : check('clusterSetID', clusterName.parse(clusterSetID), ''),
    labels: Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [
        check(`labels`, labelKey.parse(`${configLabelPrefix}${name}`), ''),
        check(`labels.${name}`, labelValue.parse(value), ''),
      ]),
    ),
    reference: check('kubeConfigPath', remoteReference(entry), { kind: 'in-cluster' }),
    ...found.podAddresses(at, entry),
    podResyncPeriodMs: check('podResyncPeriod', durationOf(podResyncPeriod, options.podResyncPeriodMs), 0),
  };
}

/** What `-network-policies` demands of addresses: each must tell which remote a Pod is in. */
function networkPolicyProblems(remotes: readonly RemoteSettings[]): readonly string[] {
  const at = (i: number): string => `remotes[${i}].allowedPodCIDRs`;
  const blocks = remotes.flatMap(({ name, allowedPodCidrs = [] }, i) =>
    allowedPodCidrs.map((cidr) => ({ name, i, cidr })),
  );
  return [
    ...remotes.flatMap(({ allowedPodCidrs }, i) =>
      allowedPodCidrs === undefined ? [`${at(i)}: it is required with -network-policies`] : [],
    ),
    ...overlappingBlocks(blocks, (one, other) => one.i !== other.i).map(
      ([one, { i, cidr }]) =>
        `${at(i)}: ${cidr.text} overlaps ${one.cidr.text} of ${one.name}; -network-policies needs distinct ones`,
    ),
  ];
}
