import {
  boolean,
  cidrList,
  commonOptions,
  type CommonOptions,
  deletionGuardOptions,
  type DeletionGuardOptions,
  duration,
  type Given,
  integer,
  leaderElectionOptions,
  type LeaderElectionOptions,
  leaderElectionProblems,
  oneOf,
  type OptionTable,
  overriddenRemote,
  remoteClusterKeys,
  remoteClusterOptions,
  type RemoteClusterOptions,
  remoteClusterProblems,
  type RemoteWritesOptions,
  remoteWritesOptions,
  spellingOf,
  subcommandOptions,
  type SubcommandOptions,
  text,
  variableOf,
} from '@kube-semaphore/options';
import type { Cidr } from '@kube-semaphore/net';
import { clusterName, labelDomain, labelValue } from './option-types.ts';

/** Everything that semaphore-policy can be told. */
export type PolicyOptions = CommonOptions &
  DeletionGuardOptions &
  LeaderElectionOptions &
  RemoteClusterOptions &
  RemoteWritesOptions &
  SubcommandOptions & {
    /** A file with several remotes, instead of the flags for one. */
    readonly config: string | undefined;
    /** A kubeconfig file; without it the pod's service account. */
    readonly localKubeConfig: string | undefined;
    /** Of the local cluster: no remote may bring in an address in them. */
    readonly localCidrs: readonly Cidr[] | undefined;
    readonly targetClusterName: string | undefined;
    /** `auto` takes protobuf where the API server speaks it. */
    readonly encoding: 'auto' | 'json';
    /** 0 is never. */
    readonly podResyncPeriodMs: number;
    /** 0 is never. */
    readonly fullStoreResyncPeriodMs: number;
    /** A domain, or `auto`. */
    readonly labelDomain: string;
    /** A label value, or `auto`. */
    readonly managedBy: string;
    /** Not given and `exclude` are two things: members that a Go program left in a set stay until it is given. */
    readonly hostNetworkPods: 'exclude' | 'include';
    readonly maxNetsPerSet: number;
    /** Sets that a remote may have: those of so many namespaces and label values. */
    readonly maxRemoteSets: number;
    /** For `cleanup`: whose sets to remove. */
    readonly cleanupCluster: string | undefined;
    readonly clusterSetLabel: boolean;
    readonly calicoApi: 'auto' | 'projectcalico.org/v3' | 'crd.projectcalico.org/v1';
  };

/** The program as `-help` and `-version` introduce it. */
export const program = {
  name: 'semaphore-policy',
  description: 'Keeps addresses of remote Pods in local Calico GlobalNetworkSets.',
  subcommands: [
    { name: 'plan', description: 'Print what would be written, and what is skipped and why; write nothing.' },
    { name: 'cleanup', description: 'Remove the sets of a cluster that is not in the config any more: -cluster.' },
  ],
  elsewhere: { status: 'semaphore-wireguard' },
  retired: [
    {
      names: ['label-selector', 'networkset-name-annotation', 'KPS_LABEL_SELECTOR', 'KPS_NETSET_NAME_ANNOTATION'],
      says: 'kube-policy-semaphore v0.1.0 chose Pods by a label and named sets by an annotation, uw.systems/networkset-name; give Pods the label semaphore.uw.systems/name instead',
    },
  ],
};

const ours = (flag: string) => ({ flag, env: variableOf('SP', flag) });

/** An option that the Go programs had, the first of which read its variables under KPS. */
const inherited = (flag: string) => ({ ...ours(flag), aliases: [variableOf('KPS', flag)] });

const HOUR_MS = 3_600_000;

const oneRemote = remoteClusterOptions({ prefix: 'SP' });

/** The remote's rows, with the variables of the first Go release. */
const remoteRows: OptionTable<RemoteClusterOptions> = {
  ...oneRemote,
  targetKubeConfig: { ...oneRemote.targetKubeConfig, aliases: ['KPS_TARGET_KUBE_CONFIG'] },
  remoteApiUrl: { ...oneRemote.remoteApiUrl, aliases: ['KPS_REMOTE_API_URL'] },
  remoteCaUrl: { ...oneRemote.remoteCaUrl, aliases: ['KPS_REMOTE_CA_URL'] },
  remoteSaTokenPath: {
    ...oneRemote.remoteSaTokenPath,
    aliases: [
      'SP_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH',
      'KPS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH',
      'KPS_REMOTE_SA_TOKEN_PATH',
    ],
  },
  remoteSaToken: { ...oneRemote.remoteSaToken, aliases: ['KPS_REMOTE_SERVICE_ACCOUNT_TOKEN'] },
};

/** The rows of `PolicyOptions`. */
export const options: OptionTable<PolicyOptions> = {
  localKubeConfig: {
    ...inherited('local-kube-config'),
    group: 'Local cluster',
    type: text('file'),
    absent: 'in-cluster',
    help: 'Kubeconfig of the local cluster.',
  },
  localCidrs: {
    ...ours('local-cidrs'),
    group: 'Local cluster',
    type: cidrList,
    absent: 'none',
    help: 'CIDRs of local Pods, Services and Nodes; remote addresses in them are skipped.',
  },
  targetClusterName: {
    ...inherited('target-cluster-name'),
    group: 'Remote cluster',
    type: clusterName,
    help: 'Name of the remote, which begins the names of its sets. Required without -config.',
  },
  config: {
    ...ours('config'),
    group: 'Remote cluster',
    type: text('file'),
    help: 'JSON or YAML file with several remotes, instead of the flags for one.',
  },
  ...remoteRows,
  encoding: {
    ...ours('encoding'),
    group: 'Remote cluster',
    type: oneOf(['auto', 'json']),
    fallback: 'auto',
    help: 'auto prefers protobuf; json is slower, for proxies that need it.',
  },
  labelDomain: {
    ...ours('label-domain'),
    group: 'Sets',
    type: labelDomain,
    fallback: 'auto',
    help: 'Domain of the labels of Pods and sets; auto uses that of existing sets.',
  },
  managedBy: {
    ...ours('managed-by'),
    group: 'Sets',
    type: labelValue,
    fallback: 'auto',
    help: 'Value of the label managed-by of sets; auto uses that of existing sets.',
  },
  hostNetworkPods: {
    ...ours('host-network-pods'),
    group: 'Sets',
    type: oneOf(['exclude', 'include']),
    fallback: 'exclude',
    help: 'Whether Pods with hostNetwork are members; the Go programs include them.',
  },
  maxNetsPerSet: {
    ...ours('max-nets-per-set'),
    group: 'Sets',
    // An object of 50,000 IPv4 addresses is what etcd still takes.
    type: integer({ min: 1, max: 50_000 }),
    fallback: 1_000,
    help: 'Addresses per set, at most 30,000 if one is IPv6; larger sets are split into shards.',
  },
  maxRemoteSets: {
    ...ours('max-remote-sets'),
    group: 'Limits',
    type: integer({ min: 1, max: 1_000_000 }),
    fallback: 10_000,
    help: 'Sets per remote, without shards; with more, new ones are skipped.',
  },
  calicoApi: {
    ...ours('calico-api'),
    group: 'Sets',
    type: oneOf(['auto', 'projectcalico.org/v3', 'crd.projectcalico.org/v1'], 'auto|group/version'),
    fallback: 'auto',
    help: 'projectcalico.org/v3 or crd.projectcalico.org/v1; auto uses the first that we may list.',
  },
  clusterSetLabel: {
    ...ours('clusterset-label'),
    group: 'Sets',
    type: boolean,
    fallback: false,
    help: 'Adds the label cluster.clusterset.k8s.io with the cluster name to sets.',
  },
  podResyncPeriodMs: {
    ...inherited('pod-resync-period'),
    group: 'Pacing',
    type: duration(),
    fallback: HOUR_MS,
    help: 'Time between two checks of known Pods, without requests; 0 is never.',
  },
  fullStoreResyncPeriodMs: {
    ...inherited('full-store-resync-period'),
    group: 'Pacing',
    type: duration(),
    fallback: HOUR_MS,
    help: 'Time between two checks of every set; 0 is never.',
  },
  ...subcommandOptions({ prefix: 'SP', printing: ['plan'], local: 'the local sets' }),
  cleanupCluster: {
    flag: 'cluster',
    env: 'SP_CLEANUP_CLUSTER',
    group: 'Subcommands',
    type: clusterName,
    help: 'Cluster whose sets cleanup removes.',
  },
  ...leaderElectionOptions({ prefix: 'SP', leaseName: 'semaphore-policy-<cluster>' }),
  ...remoteWritesOptions({ prefix: 'SP' }),
  ...deletionGuardOptions({ prefix: 'SP' }),
  ...commonOptions({ prefix: 'SP', older: 'KPS' }),
};

/** What a config file says for each of its remotes. */
const SINGLE = ['targetClusterName', ...remoteClusterKeys] as const;

/**
 * The rules across options: there is a way to reach the remote cluster, and it is complete.
 *
 * @returns what is wrong, each a sentence that names flag and variable
 */
export function validate(
  given: Given<PolicyOptions>,
  config: Partial<PolicyOptions>,
  subcommand: string | undefined,
): string[] {
  return [...validateClusters(given, subcommand), ...leaderElectionProblems(options, config)];
}

function validateClusters(given: Given<PolicyOptions>, subcommand: string | undefined): string[] {
  if (subcommand === 'cleanup')
    return given.has('cleanupCluster') ? [] : [`${spelling('cleanupCluster')} is required for cleanup`];
  if (given.has('config'))
    return SINGLE.filter((key) => given.has(key)).map(
      (key) => `${spelling(key)} and ${spelling('config')} exclude each other`,
    );
  const nameless = given.has('targetClusterName') ? [] : [`${spelling('targetClusterName')} is required`];
  return [...nameless, ...remoteClusterProblems(options, given)];
}

/** What is given in vain, because something else says the same. @returns sentences for the log */
export const overridden = (given: Given<PolicyOptions>): string[] => overriddenRemote(options, given);

const spelling = (key: keyof PolicyOptions): string => spellingOf(options[key]);
