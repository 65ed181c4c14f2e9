import {
  boolean,
  type CommonOptions,
  commonRows,
  duration,
  type Given,
  integer,
  type LeaderElectionOptions,
  leaderElectionProblems,
  leaderElectionRows,
  missingProblems,
  oneOf,
  optionTable,
  overriddenRemote,
  remoteClusterKeys,
  type RemoteClusterOptions,
  remoteClusterProblems,
  remoteClusterRows,
  spellingOf,
  text,
} from '@kube-semaphore/options';
import { clusterSetLabel, type SinkName, sinkNames } from '@kube-semaphore/network-policies';
import { moved } from './moved.ts';
import { clusterName, labelDomain, labelKey, labelSelector, labelValue } from './option-types.ts';

/** The options of semaphore-policy. */
export type PolicyOptions = CommonOptions &
  LeaderElectionOptions &
  RemoteClusterOptions & {
    /** A file with several remotes, instead of the flags for one. */
    readonly config: string | undefined;
    /** A kubeconfig file; undefined: the service account of the pod. */
    readonly localKubeConfig: string | undefined;
    readonly targetClusterName: string | undefined;
    /** 0 is never. */
    readonly podResyncPeriodMs: number;
    /** 0 is never. */
    readonly fullStoreResyncPeriodMs: number;
    /** A domain, or `auto`. */
    readonly labelDomain: string;
    /** A label value, or `auto`. */
    readonly managedBy: string;
    /** A given `exclude` isn't the default: only it removes the members that a Go program left in a set. */
    readonly hostNetworkPods: 'exclude' | 'include';
    readonly maxNetsPerSet: number;
    /** Sets per remote: one for each namespace and label value. */
    readonly maxRemoteSets: number;
    /** The cluster whose sets `cleanup` removes. */
    readonly cleanupCluster: string | undefined;
    readonly clusterSetLabel: boolean;
    /** Whether `label-namespaces` replaces other values. */
    readonly overwrite: boolean;
    /** Whether NetworkPolicies that name other clusters get companions. */
    readonly networkPolicies: boolean;
    /** What companions are. */
    readonly networkPolicySink: SinkName;
    /** Key of the label that names the cluster of a namespace. */
    readonly clusterSetKey: string;
    /** The value of that label for the local cluster. */
    readonly localClusterName: string | undefined;
    /** A label selector; undefined: peers may select every Pod of a remote. */
    readonly remotePodSelector: string | undefined;
    readonly maxAddressesPerPolicy: number;
    readonly maxAddressesPerSource: number;
    readonly calicoApi: 'auto' | 'projectcalico.org/v3' | 'crd.projectcalico.org/v1';
  };

/** The program as `-help` and `-version` introduce it. */
export const program = {
  name: 'semaphore-policy',
  description: 'Keeps addresses of remote Pods in local Calico GlobalNetworkSets, and in NetworkPolicies.',
  subcommands: [
    { name: 'plan', description: 'Print what would be written, and what is skipped and why; write nothing.' },
    {
      name: 'label-namespaces',
      description: 'Give the cluster label to local namespaces, with the rights of -local-kube-config.',
    },
    { name: 'cleanup', description: 'Remove the sets of a cluster that is not in the config any more: -cluster.' },
  ],
  elsewhere: { status: 'semaphore-wireguard' },
  moved,
  retired: [
    {
      names: ['label-selector', 'networkset-name-annotation', 'KPS_LABEL_SELECTOR', 'KPS_NETSET_NAME_ANNOTATION'],
      says:
        'kube-policy-semaphore v0.1.0 chose Pods by a label and named sets by an annotation, ' +
        'uw.systems/networkset-name; give Pods the label semaphore.uw.systems/name instead',
    },
  ],
};

const HOUR_MS = 3_600_000;

const TOKEN_PATH_ALIASES = ['SP_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH', 'KPS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH'];

/** The first Go release read its variables under KPS. */
const older = {
  prefix: 'KPS',
  keys: [
    'localKubeConfig',
    'targetClusterName',
    'targetKubeConfig',
    'remoteApiUrl',
    'remoteCaUrl',
    'remoteSaTokenPath',
    'remoteSaToken',
    'podResyncPeriodMs',
    'fullStoreResyncPeriodMs',
    'logLevel',
  ],
} as const;

export const options = optionTable<PolicyOptions>(
  { prefix: 'SP', older },
  {
    localKubeConfig: {
      flag: 'local-kube-config',
      group: 'Local cluster',
      type: text('file'),
      absent: 'in-cluster',
      help: 'Kubeconfig of the local cluster.',
    },
    targetClusterName: {
      flag: 'target-cluster-name',
      group: 'Remote cluster',
      type: clusterName,
      help: 'Name of the remote, which begins the names of its sets. Required without -config.',
    },
    config: {
      flag: 'config',
      group: 'Remote cluster',
      type: text('file'),
      help: 'JSON or YAML file with several remotes, instead of the flags for one.',
    },
    ...remoteClusterRows,
    remoteSaTokenPath: { ...remoteClusterRows.remoteSaTokenPath, aliases: TOKEN_PATH_ALIASES },
    labelDomain: {
      flag: 'label-domain',
      group: 'Sets',
      type: labelDomain,
      fallback: 'auto',
      help: 'Domain of the labels of Pods and sets; auto uses that of existing sets.',
    },
    managedBy: {
      flag: 'managed-by',
      group: 'Sets',
      type: labelValue,
      fallback: 'auto',
      help: 'Value of the label managed-by of sets; auto uses that of existing sets.',
    },
    hostNetworkPods: {
      flag: 'host-network-pods',
      group: 'Sets',
      type: oneOf(['exclude', 'include']),
      fallback: 'exclude',
      help: 'Whether Pods with hostNetwork are members; the Go programs include them.',
    },
    maxNetsPerSet: {
      flag: 'max-nets-per-set',
      group: 'Sets',
      // etcd still takes an object of 50,000 IPv4 addresses.
      type: integer({ min: 1, max: 50_000 }),
      fallback: 1_000,
      help: 'Addresses per set, at most 30,000 if one is IPv6; larger sets are split into shards.',
    },
    maxRemoteSets: {
      flag: 'max-remote-sets',
      group: 'Limits',
      type: integer({ min: 1, max: 1_000_000 }),
      fallback: 10_000,
      help: 'Sets per remote, without shards; with more, new ones are skipped.',
    },
    calicoApi: {
      flag: 'calico-api',
      group: 'Sets',
      type: oneOf(['auto', 'projectcalico.org/v3', 'crd.projectcalico.org/v1'], 'auto|group/version'),
      fallback: 'auto',
      help: 'projectcalico.org/v3 or crd.projectcalico.org/v1; auto uses the first that we may list.',
    },
    clusterSetLabel: {
      flag: 'clusterset-label',
      group: 'Sets',
      type: boolean,
      fallback: false,
      help: 'Adds the label cluster.clusterset.k8s.io with the cluster name to sets.',
    },
    networkPolicies: {
      flag: 'network-policies',
      group: 'NetworkPolicies',
      type: boolean,
      fallback: false,
      help: 'Extends NetworkPolicies that name other clusters. Needs the allowed Pod CIDRs of each remote.',
    },
    networkPolicySink: {
      flag: 'network-policy-sink',
      group: 'NetworkPolicies',
      type: oneOf(sinkNames),
      fallback: 'networkpolicy',
      help: 'What extends a NetworkPolicy: NetworkPolicies, for every CNI, or policies of Calico or Cilium.',
    },
    clusterSetKey: {
      flag: 'clusterset-key',
      group: 'NetworkPolicies',
      type: labelKey,
      fallback: clusterSetLabel,
      help: 'Key of the label by which a namespaceSelector names clusters.',
    },
    localClusterName: {
      flag: 'local-cluster-name',
      group: 'NetworkPolicies',
      type: clusterName,
      help: 'Value of that label for the local cluster, for diagnostics and label-namespaces.',
    },
    remotePodSelector: {
      flag: 'remote-pod-selector',
      group: 'NetworkPolicies',
      type: labelSelector,
      absent: 'every Pod',
      help: 'Label selector of the remote Pods that NetworkPolicies can select.',
    },
    maxAddressesPerPolicy: {
      flag: 'max-addresses-per-policy',
      group: 'NetworkPolicies',
      type: integer({ min: 1, max: 10_000 }),
      fallback: 500,
      help: 'Addresses per object that extends a NetworkPolicy; more are split into shards.',
    },
    maxAddressesPerSource: {
      flag: 'max-addresses-per-source',
      group: 'Limits',
      type: integer({ min: 1, max: 1_000_000 }),
      fallback: 5_000,
      help: 'Remote addresses per extended NetworkPolicy; with more, new ones are skipped.',
    },
    podResyncPeriodMs: {
      flag: 'pod-resync-period',
      group: 'Pacing',
      type: duration(),
      fallback: HOUR_MS,
      help: 'Time between two checks of known Pods, without requests; 0 is never.',
    },
    fullStoreResyncPeriodMs: {
      flag: 'full-store-resync-period',
      group: 'Pacing',
      type: duration(),
      fallback: HOUR_MS,
      help: 'Time between two checks of every set; 0 is never.',
    },
    ...commonRows({ printing: ['plan'], local: 'the local cluster' }),
    cleanupCluster: {
      flag: 'cluster',
      variable: 'CLEANUP_CLUSTER',
      group: 'Subcommands',
      type: clusterName,
      help: 'Cluster whose sets cleanup removes.',
    },
    overwrite: {
      flag: 'overwrite',
      group: 'Subcommands',
      type: boolean,
      fallback: false,
      help: 'Makes label-namespaces replace other values of the label, too.',
    },
    ...leaderElectionRows('semaphore-policy-<cluster>'),
  },
);

/**
 * The rules across options.
 *
 * @returns problems, each a sentence that names flag and variable
 */
export const validate = (
  given: Given<PolicyOptions>,
  config: Partial<PolicyOptions>,
  subcommand: string | undefined,
): string[] => [
  ...(Object.hasOwn(withoutRemotes, subcommand ?? '')
    ? missingProblems(options, given, withoutRemotes[subcommand as keyof typeof withoutRemotes], `for ${subcommand}`)
    : remoteClusterProblems(options, given, {
        inFile: ['targetClusterName', ...remoteClusterKeys],
        required: ['targetClusterName'],
      })),
  ...(!given.has('config') && config.networkPolicies === true && !Object.hasOwn(withoutRemotes, subcommand ?? '')
    ? missingProblems(options, given, ['allowedPodCidrs'], `with ${spellingOf(options.networkPolicies)}`)
    : []),
  ...(config.networkPolicySink === 'calico' && config.calicoApi === 'auto'
    ? [`${spellingOf(options.calicoApi)} must name an API with ${spellingOf(options.networkPolicySink)} = calico`]
    : []),
  ...(config.localClusterName !== undefined && config.localClusterName === config.targetClusterName
    ? [`${spellingOf(options.localClusterName)}: ${config.localClusterName} is the name of the remote`]
    : []),
  ...leaderElectionProblems(options, config),
];

/** Subcommands that need no remote, and what they need. */
const withoutRemotes = {
  cleanup: ['cleanupCluster'],
  // The account of a Pod is the controller's.
  'label-namespaces': ['localClusterName', 'localKubeConfig'],
} as const;

/** Options that others override. @returns sentences for the log */
export const overridden = (given: Given<PolicyOptions>): string[] => overriddenRemote(options, given);
