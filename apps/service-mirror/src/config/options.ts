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
  type Superseded,
  text,
  variableOf,
} from '@kube-semaphore/options';
import type { Cidr } from '@kube-semaphore/net';
import { clusterName, namespace, onlyPrefix, selector } from './option-types.ts';

/** Everything that semaphore-service-mirror can be told. */
export type MirrorOptions = CommonOptions &
  DeletionGuardOptions &
  LeaderElectionOptions &
  RemoteClusterOptions &
  RemoteWritesOptions &
  SubcommandOptions & {
    /** A kubeconfig file; without it what the config file says, or the pod's service account. */
    readonly kubeConfig: string | undefined;
    /** Of the local cluster: no remote may bring in an address in them. */
    readonly localCidrs: readonly Cidr[] | undefined;
    /** Where our Services are, in the local cluster. */
    readonly mirrorNs: string | undefined;
    /** A file with several remotes and global services, instead of the flags for one remote. */
    readonly config: string | undefined;
    /** With a config file the older spelling of `mirrorSvcLabelSelector`. */
    readonly labelSelector: string | undefined;
    readonly svcPrefix: string | undefined;
    /** Whether mirrors without a source are removed. */
    readonly svcSync: boolean;
    /** 0 is never. */
    readonly resyncPeriodMs: number;
    /** `auto` takes protobuf where the API server speaks it. */
    readonly encoding: 'auto' | 'json';
    readonly mirrorSvcLabelSelector: string | undefined;
    readonly globalSvcLabelSelector: string | undefined;
    readonly globalSvcRoutingStrategyLabel: string | undefined;
    /** Services that a remote may have here: mirrors, and parts of global ones. */
    readonly maxRemoteServices: number;
    /** For `cleanup`: whose objects to remove. */
    readonly cleanupCluster: string | undefined;
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
        'Remove the mirrors of a cluster that is not in the config any more, and its part in global services: -cluster.',
    },
  ],
  elsewhere: { status: 'semaphore-wireguard' },
};

const ours = (flag: string) => ({ flag, env: variableOf('SSM', flag) });

/** An option of the first releases, which read their variables under KSM. */
const inherited = (flag: string) => ({ ...ours(flag), aliases: [variableOf('KSM', flag)] });

const HOUR_MS = 3_600_000;

const oneRemote = remoteClusterOptions({ prefix: 'SSM' });

/** The remote's rows, with the variables of the first releases. */
const remoteRows: OptionTable<RemoteClusterOptions> = {
  ...oneRemote,
  targetKubeConfig: { ...oneRemote.targetKubeConfig, aliases: ['KSM_TARGET_KUBE_CONFIG'] },
  remoteApiUrl: { ...oneRemote.remoteApiUrl, aliases: ['KSM_REMOTE_API_URL'] },
  remoteCaUrl: { ...oneRemote.remoteCaUrl, aliases: ['KSM_REMOTE_CA_URL'] },
  remoteSaToken: { ...oneRemote.remoteSaToken, aliases: ['KSM_REMOTE_SERVICE_ACCOUNT_TOKEN'] },
};

/** The rows of `MirrorOptions`. */
export const options: OptionTable<MirrorOptions> = {
  kubeConfig: {
    ...inherited('kube-config'),
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
    help: 'CIDRs of local Pods, Services and Nodes; remote addresses in them are skipped. Overrides cidrs in the file.',
  },
  mirrorNs: {
    ...inherited('mirror-ns'),
    group: 'Local cluster',
    type: namespace,
    help: 'Namespace of the mirrors. Overrides mirrorNamespace in the file; required without -config.',
  },
  config: {
    ...ours('config'),
    group: 'Several remote clusters',
    type: text('file'),
    help: 'JSON or YAML file with several remotes and global services, instead of the flags for one.',
  },
  mirrorSvcLabelSelector: {
    ...ours('mirror-svc-label-selector'),
    group: 'Several remote clusters',
    type: selector,
    help: 'Services to mirror. Overrides mirrorSvcLabelSelector in the file.',
  },
  globalSvcLabelSelector: {
    ...ours('global-svc-label-selector'),
    group: 'Several remote clusters',
    type: selector,
    help: 'Services that become global. Overrides globalSvcLabelSelector in the file.',
  },
  globalSvcRoutingStrategyLabel: {
    ...ours('global-svc-routing-strategy-label'),
    aliases: ['SSM_GLOBAL_SVC_TOPOLOGY_LABEL'],
    group: 'Several remote clusters',
    type: selector,
    help: 'Global Services that prefer local endpoints. Overrides globalSvcRoutingStrategyLabel in the file.',
  },
  labelSelector: {
    ...inherited('label-selector'),
    group: 'Remote cluster',
    type: selector,
    help: 'Services to mirror. Required without -config; with it, use -mirror-svc-label-selector.',
  },
  svcPrefix: {
    ...inherited('svc-prefix'),
    group: 'Remote cluster',
    type: onlyPrefix,
    help: 'Name of the remote, which begins the names of its mirrors. Required without -config.',
  },
  ...remoteRows,
  svcSync: {
    ...inherited('svc-sync'),
    group: 'Remote cluster',
    type: boolean,
    fallback: true,
    help: 'Removes mirrors whose source was deleted before the start.',
  },
  encoding: {
    ...ours('encoding'),
    group: 'Remote cluster',
    type: oneOf(['auto', 'json']),
    fallback: 'auto',
    help: 'auto prefers protobuf; json is slower, for proxies that need it.',
  },
  resyncPeriodMs: {
    ...inherited('resync-period'),
    group: 'Pacing',
    type: duration(),
    fallback: HOUR_MS,
    help: 'Time between two checks of known objects, without requests; 0 is never. In the file: resyncPeriod, default 0.',
  },
  ...subcommandOptions({ prefix: 'SSM', printing: ['plan'], local: 'the local objects' }),
  cleanupCluster: {
    flag: 'cluster',
    env: 'SSM_CLEANUP_CLUSTER',
    group: 'Subcommands',
    type: clusterName,
    help: 'Name or prefix of the cluster whose objects cleanup removes.',
  },
  maxRemoteServices: {
    ...ours('max-remote-services'),
    group: 'Limits',
    type: integer({ min: 1, max: 1_000_000 }),
    fallback: 5_000,
    help: 'Services per remote, mirrors and global ones together; with more, new ones are skipped.',
  },
  ...remoteWritesOptions({ prefix: 'SSM' }),
  ...leaderElectionOptions({ prefix: 'SSM', leaseName: 'semaphore-service-mirror-<prefix or local name>' }),
  ...deletionGuardOptions({ prefix: 'SSM' }),
  ...commonOptions({ prefix: 'SSM', older: 'KSM' }),
};

/** What a config file says for each of its remotes, or for all. */
const SINGLE = ['svcPrefix', 'svcSync', 'resyncPeriodMs', ...remoteClusterKeys] as const;

/**
 * Manifests of the Go program leave variables of its first releases beside the config file, and it passes over them.
 * -allowed-pod-cidrs is ours: to pass over it would lift a limit that somebody set.
 */
export const superseded: Superseded<MirrorOptions> = {
  by: 'config',
  keys: SINGLE.filter((key) => key !== 'allowedPodCidrs'),
};

/** What means something beside a config file only. */
const SEVERAL = ['mirrorSvcLabelSelector', 'globalSvcLabelSelector', 'globalSvcRoutingStrategyLabel'] as const;

/**
 * The rules across options: there is either a config file, or one remote cluster and a complete way to it.
 *
 * @returns what is wrong, each a sentence that names flag and variable
 */
export function validate(
  given: Given<MirrorOptions>,
  config: Partial<MirrorOptions>,
  subcommand: string | undefined,
): string[] {
  const clusters = subcommand === 'cleanup' ? validateCleanup(given) : validateClusters(given);
  return [...clusters, ...leaderElectionProblems(options, config)];
}

/** It goes to no remote, so it needn't know the way to one. */
function validateCleanup(given: Given<MirrorOptions>): string[] {
  const required = given.has('config') ? (['cleanupCluster'] as const) : (['cleanupCluster', 'mirrorNs'] as const);
  return required.filter((key) => !given.has(key)).map((key) => `${spelling(key)} is required for cleanup`);
}

function validateClusters(given: Given<MirrorOptions>): string[] {
  if (given.has('config'))
    return SINGLE.filter((key) => given.has(key)).map(
      (key) => `${spelling(key)} and ${spelling('config')} exclude each other`,
    );
  const missing = (['mirrorNs', 'labelSelector', 'svcPrefix'] as const).filter((key) => !given.has(key));
  const stray = SEVERAL.filter((key) => given.has(key));
  return [
    ...missing.map((key) => `${spelling(key)} is required`),
    ...remoteClusterProblems(options, given),
    ...stray.map((key) => `${spelling(key)} is for ${spelling('config')} only`),
  ];
}

/** What is given in vain, because something else says the same. @returns sentences for the log */
export const overridden = (given: Given<MirrorOptions>): string[] => overriddenRemote(options, given);

const spelling = (key: keyof MirrorOptions): string => spellingOf(options[key]);
