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
export type WireGuardOptions = CommonOptions & DeletionGuardOptions & SubcommandOptions & {
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
  description: 'Makes the nodes of the local cluster and of remote clusters one mesh of WireGuard tunnels between their pods.',
  subcommands: [
    { name: 'plan', description: 'Print what would be changed on this node and why something is left out, and change nothing.' },
    { name: 'status', description: 'Print the peers of this node, and which remote Nodes are left out and why.' },
    { name: 'cleanup', description: 'Remove our devices and routes from this node, and our annotations from its Node: of one remote with -cluster, or all.' },
  ],
  retired: [
    {
      names: [
        'local-kube-config', 'remote-api-url', 'remote-ca-url', 'remote-sa-token-path', 'remote-pod-subnet',
        'target-kube-config', 'wg-device-mtu', 'wg-device-name', 'wg-listen-port', 'resync-period',
        'WS_LOCAL_KUBE_CONFIG', 'WS_REMOTE_API_URL', 'WS_REMOTE_CA_URL', 'WS_REMOTE_POD_SUBNET',
        'WS_REMOTE_SERVICE_ACCOUNT_TOKEN', 'WS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH', 'WS_TARGET_KUBE_CONFIG',
        'WS_WG_DEVICE_MTU', 'WS_WG_DEVICE_NAME', 'WS_WG_LISTEN_PORT',
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
    help: 'A JSON or YAML file with the local cluster and the remote ones.',
  },
  encoding: {
    ...ours('encoding'),
    group: 'Clusters',
    type: oneOf(['auto', 'json']),
    fallback: 'auto',
    help: 'How objects are asked for: auto is protobuf where it is spoken; json is slower, for a proxy that passes no other.',
  },
  nodeName: {
    ...inherited('node-name'),
    olderFlags: ['ws-node-name'],
    group: 'Node',
    type: text('name'),
    required: true,
    help: 'The Node that this process runs on.',
  },
  wgKeyPath: {
    ...inherited('wg-key-path'),
    group: 'Node',
    type: text('folder'),
    fallback: '/var/lib/semaphore-wireguard',
    help: 'Folder of the private keys, one per remote; made where there is none.',
  },
  userspace: {
    ...ours('userspace'),
    group: 'Node',
    type: oneOf(['auto', 'always', 'never']),
    fallback: 'auto',
    help: 'Whether wireguard-go carries the tunnels: auto is where the kernel has no WireGuard.',
  },
  observePeriodMs: {
    ...ours('observe-period'),
    group: 'Node',
    type: duration({ minMs: 1_000 }),
    fallback: 30_000,
    help: 'How often devices and routes are compared with what they should be, whatever changed them.',
  },
  staleHandshakeMs: {
    ...ours('stale-handshake'),
    group: 'Node',
    type: duration({ minMs: 1_000 }),
    fallback: 180_000,
    help: 'A peer without a handshake for so long counts as stale, and gets the endpoint of its annotation again.',
  },
  ...subcommandOptions({ prefix: 'SWG', printing: ['plan', 'status'], local: 'our own Node' }),
  cleanupCluster: {
    flag: 'cluster',
    env: 'SWG_CLEANUP_CLUSTER',
    group: 'Subcommands',
    type: clusterName,
    absent: 'all',
    help: 'The remote cluster that cleanup is for.',
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
export function validate(given: Given<WireGuardOptions>, _config: Partial<WireGuardOptions>, subcommand: string | undefined): string[] {
  if (subcommand === 'cleanup' || !given.has('cleanupCluster')) return [];
  return [`${spellingOf(options.cleanupCluster)} is for cleanup only`];
}
