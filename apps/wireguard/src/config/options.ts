import {
  commonOptions,
  type CommonOptions,
  deletionGuardOptions,
  type DeletionGuardOptions,
  duration,
  type Given,
  oneOf,
  type OptionTable,
  spellingOf,
  subcommandOptions,
  type SubcommandOptions,
  text,
  variableOf,
} from '@kube-semaphore/options';
import { clusterName } from './option-types.ts';

/** Everything that semaphore-wireguard can be told. */
export type WireGuardOptions = CommonOptions &
  DeletionGuardOptions &
  SubcommandOptions & {
    /** The file with the local cluster and the remotes. */
    readonly clustersConfig: string;
    /** The Node that we run on. */
    readonly nodeName: string;
    /** The folder of our private keys. */
    readonly wgKeyPath: string;
    /** Whether wireguard-go carries the tunnels: where the kernel has no WireGuard, always, or never. */
    readonly userspace: 'auto' | 'always' | 'never';
    /** Between two looks at devices and routes, which nobody tells us of. */
    readonly observePeriodMs: number;
    /** A peer whose last handshake is older has lost us. */
    readonly staleHandshakeMs: number;
    /** `auto` takes protobuf where the API server speaks it. */
    readonly encoding: 'auto' | 'json';
    /** For `cleanup`: the remote to take leave of, by default all of them. */
    readonly cleanupCluster: string | undefined;
  };

/** The program as `-help` and `-version` introduce it. */
export const program = {
  name: 'semaphore-wireguard',
  description: 'Connects the Pods of clusters by WireGuard tunnels between all nodes.',
  subcommands: [
    { name: 'plan', description: 'Print what would change on this node, and what is skipped and why; change nothing.' },
    { name: 'status', description: 'Print the peers of this node, and which Nodes are skipped and why.' },
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

const ours = (flag: string) => ({ flag, env: variableOf('SWG', flag) });

/** An option of the first releases, which read their variables under WS. */
const inherited = (flag: string) => ({ ...ours(flag), aliases: [variableOf('WS', flag)] });

const common = commonOptions({ prefix: 'SWG', older: 'WS', port: 7773 });

/** The rows of `WireGuardOptions`. */
export const options: OptionTable<WireGuardOptions> = {
  clustersConfig: {
    ...inherited('clusters-config'),
    group: 'Clusters',
    type: text('file'),
    required: true,
    help: 'JSON or YAML file with the local cluster and the remotes.',
  },
  encoding: {
    ...ours('encoding'),
    group: 'Clusters',
    type: oneOf(['auto', 'json']),
    fallback: 'auto',
    help: 'auto prefers protobuf; json is slower, for proxies that need it.',
  },
  nodeName: {
    ...inherited('node-name'),
    olderFlags: ['ws-node-name'],
    group: 'Node',
    type: text('name'),
    required: true,
    help: 'Name of this Node.',
  },
  wgKeyPath: {
    ...inherited('wg-key-path'),
    group: 'Node',
    type: text('folder'),
    fallback: '/var/lib/semaphore-wireguard',
    help: 'Folder of the private keys; created if missing.',
  },
  userspace: {
    ...ours('userspace'),
    group: 'Node',
    type: oneOf(['auto', 'always', 'never']),
    fallback: 'auto',
    help: 'Whether to use wireguard-go; auto: if the kernel has no WireGuard.',
  },
  observePeriodMs: {
    ...ours('observe-period'),
    group: 'Node',
    type: duration({ minMs: 1_000 }),
    fallback: 30_000,
    help: 'Time between two checks of devices and routes.',
  },
  staleHandshakeMs: {
    ...ours('stale-handshake'),
    group: 'Node',
    type: duration({ minMs: 1_000 }),
    fallback: 180_000,
    help: 'A peer without a handshake for this time is stale, and gets its announced endpoint again.',
  },
  ...subcommandOptions({ prefix: 'SWG', printing: ['plan', 'status'], local: 'our own Node' }),
  cleanupCluster: {
    flag: 'cluster',
    env: 'SWG_CLEANUP_CLUSTER',
    group: 'Subcommands',
    type: clusterName,
    absent: 'all',
    help: 'Remote that cleanup is for.',
  },
  ...deletionGuardOptions({ prefix: 'SWG' }),
  ...common,
  listenAddress: { ...common.listenAddress, aliases: ['WS_LISTEN_ADDRESS'] },
};

/**
 * The rules across options.
 *
 * @returns what is wrong, each a sentence that names flag and variable
 */
export function validate(
  given: Given<WireGuardOptions>,
  _config: Partial<WireGuardOptions>,
  subcommand: string | undefined,
): string[] {
  if (subcommand === 'cleanup' || !given.has('cleanupCluster')) return [];
  return [`${spellingOf(options.cleanupCluster)} is for cleanup only`];
}
