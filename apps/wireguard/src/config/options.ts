import {
  boolean,
  type CommonOptions,
  commonRows,
  duration,
  type Given,
  oneOf,
  optionTable,
  spellingOf,
  text,
} from '@kube-semaphore/options';
import { clusterName } from './option-types.ts';

/** The options of semaphore-wireguard. */
export type WireGuardOptions = CommonOptions & {
  /** The file with the local cluster and the remotes. */
  readonly clustersConfig: string;
  /** The Node that we run on. */
  readonly nodeName: string;
  /** The folder of our private keys. */
  readonly wgKeyPath: string;
  /** Whether wireguard-go carries the tunnels: `auto` is where the kernel has no WireGuard. */
  readonly userspace: 'auto' | 'always' | 'never';
  /** Between two observations of devices and routes, as no event reports their changes. */
  readonly observePeriodMs: number;
  /** A peer whose last handshake is older is stale. */
  readonly staleHandshakeMs: number;
  /** Which peers have metrics of their own: `auto` is the worst of a device with more than 500. */
  readonly peerMetrics: 'auto' | 'all';
  /** The remote that `cleanup` or `rotate` is for; undefined: all of them. */
  readonly cleanupCluster: string | undefined;
  /** `rotate` doesn't go on without Nodes that don't follow. */
  readonly waitForAll: boolean;
};

/** The program as `-help` and `-version` introduce it. */
export const program = {
  name: 'semaphore-wireguard',
  description: 'Connects the Pods of clusters by WireGuard tunnels between all nodes.',
  subcommands: [
    { name: 'plan', description: 'Print what would change on this node, and what is skipped and why; change nothing.' },
    { name: 'status', description: 'Print the peers of this node, and which Nodes are skipped and why.' },
    {
      name: 'rotate',
      description:
        'Have the agent of this node replace its keys without a lost packet: of all remotes, or of -cluster. Wait.',
    },
    {
      name: 'cleanup',
      description: 'Remove devices, routes and annotations of this node: of all remotes, or of -cluster.',
    },
  ],
  retired: [
    {
      names: [
        'local-kube-config',
        'remote-api-url',
        'remote-ca-url',
        'remote-sa-token-path',
        'remote-pod-subnet',
        'target-kube-config',
        'wg-device-mtu',
        'wg-device-name',
        'wg-listen-port',
        'resync-period',
        'WS_LOCAL_KUBE_CONFIG',
        'WS_REMOTE_API_URL',
        'WS_REMOTE_CA_URL',
        'WS_REMOTE_POD_SUBNET',
        'WS_REMOTE_SERVICE_ACCOUNT_TOKEN',
        'WS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH',
        'WS_TARGET_KUBE_CONFIG',
        'WS_WG_DEVICE_MTU',
        'WS_WG_DEVICE_NAME',
        'WS_WG_LISTEN_PORT',
      ],
      says: 'v0.1.0 had one remote by flags; write it into the file of -clusters-config',
    },
  ],
};

/** The first Go releases read their variables under WS. */
const older = {
  prefix: 'WS',
  keys: ['clustersConfig', 'nodeName', 'wgKeyPath', 'logLevel', 'listenAddress'],
} as const;

export const options = optionTable<WireGuardOptions>(
  { prefix: 'SWG', older },
  {
    clustersConfig: {
      flag: 'clusters-config',
      group: 'Clusters',
      type: text('file'),
      required: true,
      help: 'JSON or YAML file with the local cluster and the remotes.',
    },
    nodeName: {
      flag: 'node-name',
      olderFlags: ['ws-node-name'],
      group: 'Node',
      type: text('name'),
      required: true,
      help: 'Name of this Node.',
    },
    wgKeyPath: {
      flag: 'wg-key-path',
      group: 'Node',
      type: text('folder'),
      fallback: '/var/lib/semaphore-wireguard',
      help: 'Folder of the private keys; created if missing.',
    },
    userspace: {
      flag: 'userspace',
      group: 'Node',
      type: oneOf(['auto', 'always', 'never']),
      fallback: 'auto',
      help: 'Whether to use wireguard-go; auto: if the kernel has no WireGuard.',
    },
    observePeriodMs: {
      flag: 'observe-period',
      group: 'Node',
      type: duration({ minMs: 1_000 }),
      fallback: 30_000,
      help: 'Time between two checks of devices and routes.',
    },
    staleHandshakeMs: {
      flag: 'stale-handshake',
      group: 'Node',
      type: duration({ minMs: 1_000 }),
      fallback: 180_000,
      help: 'A peer without a handshake for this time is stale, and gets its announced endpoint again.',
    },
    peerMetrics: {
      flag: 'peer-metrics',
      group: 'Node',
      type: oneOf(['auto', 'all']),
      fallback: 'auto',
      help: 'Peers with metrics of their own; auto: all, but of over 500 in a remote the twenty worst.',
    },
    ...commonRows({ printing: ['plan', 'status'], local: 'our own Node', port: 7773 }),
    cleanupCluster: {
      flag: 'cluster',
      variable: 'CLEANUP_CLUSTER',
      group: 'Subcommands',
      type: clusterName,
      absent: 'all',
      help: 'Remote that cleanup or rotate is for.',
    },
    waitForAll: {
      flag: 'wait-for-all',
      group: 'Subcommands',
      type: boolean,
      fallback: false,
      help: 'With rotate: wait for all nodes, also for those that are down, not ten minutes.',
    },
  },
);

/**
 * The rules across options.
 *
 * @returns problems, each a sentence that names flag and variable
 */
export function validate(
  given: Given<WireGuardOptions>,
  _config: Partial<WireGuardOptions>,
  subcommand: string | undefined,
): string[] {
  return [
    ...(subcommand !== 'cleanup' && subcommand !== 'rotate' && given.has('cleanupCluster')
      ? [`${spellingOf(options.cleanupCluster)} is for cleanup and rotate only`]
      : []),
    ...(subcommand !== 'rotate' && given.has('waitForAll')
      ? [`${spellingOf(options.waitForAll)} is for rotate only`]
      : []),
  ];
}
