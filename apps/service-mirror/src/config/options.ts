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
  optionTable,
  overriddenRemote,
  remoteClusterKeys,
  type RemoteClusterOptions,
  remoteClusterProblems,
  remoteClusterRows,
  type Superseded,
  text,
} from '@kube-semaphore/options';
import { clusterName, namespace, onlyPrefix, selector } from './option-types.ts';

/** The options of semaphore-service-mirror. */
export type MirrorOptions = CommonOptions &
  LeaderElectionOptions &
  RemoteClusterOptions & {
    /** A kubeconfig file; undefined: that of the config file, or the service account of the pod. */
    readonly kubeConfig: string | undefined;
    /** The namespace of our Services, in the local cluster. */
    readonly mirrorNs: string | undefined;
    /** A file with several remotes and global Services, instead of the flags for one remote. */
    readonly config: string | undefined;
    /** With a config file the older spelling of `mirrorSvcLabelSelector`. */
    readonly labelSelector: string | undefined;
    readonly svcPrefix: string | undefined;
    /** Whether mirrors without a source are removed. */
    readonly svcSync: boolean;
    /** 0 is never. */
    readonly resyncPeriodMs: number;
    readonly mirrorSvcLabelSelector: string | undefined;
    readonly globalSvcLabelSelector: string | undefined;
    readonly globalSvcRoutingStrategyLabel: string | undefined;
    /** Services that a remote may have here: mirrors, and parts of global ones. */
    readonly maxRemoteServices: number;
    /** The cluster whose objects `cleanup` removes. */
    readonly cleanupCluster: string | undefined;
    /** Whether `cleanup` removes all objects of Multi-Cluster Services, instead of those of a cluster. */
    readonly cleanupMcs: boolean;
  };

/** The program as `-help` and `-version` introduce it. */
export const program = {
  name: 'semaphore-service-mirror',
  description: 'Keeps Services of remote clusters, with their endpoints, in a local namespace.',
  subcommands: [
    { name: 'plan', description: 'Print what would be written, and what is skipped and why; write nothing.' },
    {
      name: 'cleanup',
      description:
        'Remove what is here of a cluster that is not in the config any more (-cluster), or of Multi-Cluster Services (-mcs).',
    },
  ],
  elsewhere: { status: 'semaphore-wireguard' },
};

/** The first Go releases read their variables under KSM. */
const older = {
  prefix: 'KSM',
  keys: [
    'kubeConfig',
    'mirrorNs',
    'labelSelector',
    'svcPrefix',
    'targetKubeConfig',
    'remoteApiUrl',
    'remoteCaUrl',
    'remoteSaToken',
    'svcSync',
    'resyncPeriodMs',
    'logLevel',
  ],
} as const;

export const options = optionTable<MirrorOptions>(
  { prefix: 'SSM', older },
  {
    kubeConfig: {
      flag: 'kube-config',
      group: 'Local cluster',
      type: text('file'),
      absent: 'in-cluster',
      help: 'Kubeconfig of the local cluster.',
    },
    mirrorNs: {
      flag: 'mirror-ns',
      group: 'Local cluster',
      type: namespace,
      help: 'Namespace of the mirrors. Overrides mirrorNamespace in the file; required without -config.',
    },
    config: {
      flag: 'config',
      group: 'Several remote clusters',
      type: text('file'),
      help: 'JSON or YAML file with several remotes, instead of the flags for one.',
    },
    mirrorSvcLabelSelector: {
      flag: 'mirror-svc-label-selector',
      group: 'Several remote clusters',
      type: selector,
      help: 'Services to mirror. Overrides mirrorSvcLabelSelector in the file.',
    },
    globalSvcLabelSelector: {
      flag: 'global-svc-label-selector',
      group: 'Several remote clusters',
      type: selector,
      help: 'Services that become global. Overrides globalSvcLabelSelector in the file.',
    },
    globalSvcRoutingStrategyLabel: {
      flag: 'global-svc-routing-strategy-label',
      aliases: ['SSM_GLOBAL_SVC_TOPOLOGY_LABEL'],
      group: 'Several remote clusters',
      type: selector,
      help: 'Global Services that prefer local endpoints. Overrides globalSvcRoutingStrategyLabel in the file.',
    },
    labelSelector: {
      flag: 'label-selector',
      group: 'Remote cluster',
      type: selector,
      help: 'Services to mirror. Required without -config; with it, use -mirror-svc-label-selector.',
    },
    svcPrefix: {
      flag: 'svc-prefix',
      group: 'Remote cluster',
      type: onlyPrefix,
      help: 'Name of the remote, which begins the names of its mirrors. Required without -config.',
    },
    ...remoteClusterRows,
    svcSync: {
      flag: 'svc-sync',
      group: 'Remote cluster',
      type: boolean,
      fallback: true,
      help: 'Removes mirrors whose source was deleted before the start.',
    },
    resyncPeriodMs: {
      flag: 'resync-period',
      group: 'Pacing',
      type: duration(),
      fallback: 3_600_000,
      help: 'Time between two checks of known objects, without requests; 0 is never. In the file: resyncPeriod, default 0.',
    },
    maxRemoteServices: {
      flag: 'max-remote-services',
      group: 'Limits',
      type: integer({ min: 1, max: 1_000_000 }),
      fallback: 5_000,
      help: 'Services per remote, mirrors and global ones together; with more, new ones are skipped.',
    },
    ...commonRows({ printing: ['plan'], local: 'the local objects' }),
    cleanupCluster: {
      flag: 'cluster',
      variable: 'CLEANUP_CLUSTER',
      group: 'Subcommands',
      type: clusterName,
      help: 'Name or prefix of the cluster whose objects cleanup removes.',
    },
    cleanupMcs: {
      flag: 'mcs',
      variable: 'CLEANUP_MCS',
      group: 'Subcommands',
      type: boolean,
      fallback: false,
      help: 'Makes cleanup remove all objects of Multi-Cluster Services, once mcs is not in the config any more.',
    },
    ...leaderElectionRows('semaphore-service-mirror-<prefix or local name>'),
  },
);

/** What a config file says for each of its remotes, or for all. */
const IN_FILE = ['svcPrefix', 'svcSync', 'resyncPeriodMs', ...remoteClusterKeys] as const;

/**
 * Manifests of the Go program leave variables of its first releases beside the config file, and it ignores them.
 * -allowed-pod-cidrs is ours: if it were ignored, a limit that the operator set would be lifted.
 */
export const superseded: Superseded<MirrorOptions> = {
  by: 'config',
  keys: IN_FILE.filter((key) => key !== 'allowedPodCidrs'),
};

/**
 * The rules across options.
 *
 * @returns problems, each a sentence that names flag and variable
 */
export const validate = (
  given: Given<MirrorOptions>,
  config: Partial<MirrorOptions>,
  subcommand: string | undefined,
): string[] => [
  ...(subcommand === 'cleanup' ? cleanupProblems(given, config) : remoteProblems(given)),
  ...leaderElectionProblems(options, config),
];

/** A cleanup connects to no remote, so it doesn't need the way to one. */
function cleanupProblems(given: Given<MirrorOptions>, { cleanupMcs = false }: Partial<MirrorOptions>): string[] {
  if (cleanupMcs) return given.has('cleanupCluster') ? ['-cluster and -mcs exclude each other'] : [];
  const needed = given.has('config') ? (['cleanupCluster'] as const) : (['cleanupCluster', 'mirrorNs'] as const);
  return missingProblems(options, given, needed, 'for cleanup');
}

const remoteProblems = (given: Given<MirrorOptions>): string[] =>
  remoteClusterProblems(options, given, {
    inFile: IN_FILE,
    required: ['mirrorNs', 'labelSelector', 'svcPrefix'],
    fileOnly: ['mirrorSvcLabelSelector', 'globalSvcLabelSelector', 'globalSvcRoutingStrategyLabel'],
  });

/** Options that others override. @returns sentences for the log */
export const overridden = (given: Given<MirrorOptions>): string[] => overriddenRemote(options, given);
