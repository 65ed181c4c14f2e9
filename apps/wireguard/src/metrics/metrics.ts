import { restartReasons } from '@kube-semaphore/informers';
import { sharedMetrics, type Instruments, type MetricTable } from '@kube-semaphore/runtime';

/** Explained on the page of common metrics. */
const remote = {};
const device = { help: 'name of the device' };
const public_key = { help: 'key of the peer' };

/** The shared metrics, and those of the Go program under its names. */
export const metrics = {
  ...sharedMetrics('semaphore_wg', restartReasons),
  heldDeletions: {
    name: 'semaphore_wg_held_deletions',
    type: 'gauge',
    help: 'Nodes and seeded peers whose deletion is held until the next list.',
    labels: { remote },
  },
  rotations: {
    name: 'semaphore_wg_key_rotations_total',
    type: 'counter',
    help: 'Keys that this node has replaced.',
    labels: { remote },
  },
  rotationLaggards: {
    name: 'semaphore_wg_key_rotation_laggards',
    type: 'gauge',
    help: 'Nodes that did not follow yet to the next key of this node, or do not end their own rotation for ten minutes.',
    labels: { remote },
  },
  silentNodes: {
    name: 'semaphore_wg_silent_nodes',
    type: 'gauge',
    help: 'Nodes that this node is a witness for, and that do not answer. Only with `reportSilentAfter`.',
    labels: { remote },
  },
  repairs: {
    name: 'semaphore_wg_repairs_total',
    type: 'counter',
    help: 'Changes that restored a device, a route or our annotations.',
    labels: { remote },
  },
  peers: {
    name: 'semaphore_wg_peers',
    type: 'gauge',
    help: 'Peers by last handshake: within -stale-handshake, older, or none yet.',
    labels: { device, state: { values: ['up', 'stale', 'never'] } },
  },
  refusedPackets: {
    name: 'semaphore_wg_refused_packets_total',
    type: 'counter',
    help: 'Packets whose source is outside of the CIDRs of the Node that sent them. Not counted with wireguard-go.',
    labels: { remote },
  },
  receivedBytes: {
    name: 'semaphore_wg_receive_bytes_total',
    type: 'counter',
    help: 'Bytes from all peers of a remote since the start, as of the last check of its device (-observe-period).',
    labels: { remote },
  },
  sentBytes: {
    name: 'semaphore_wg_transmit_bytes_total',
    type: 'counter',
    help: 'Bytes to all peers of a remote since the start, as of the last check of its device.',
    labels: { remote },
  },
  kubeRequests: {
    name: 'semaphore_wg_kube_http_request_total',
    type: 'counter',
    help: 'Requests to API servers.',
    labels: {
      host: { help: 'of the API server, with port' },
      code: { help: 'HTTP status, or `<error>`' },
      method: { help: '`GET`, `PATCH`' },
    },
  },
  syncPeers: {
    name: 'semaphore_wg_sync_peers_total',
    type: 'counter',
    help: 'Reconciles of a device.',
    labels: { device, success: { help: '`1` or `0`', values: ['0', '1'] } },
  },
  queueFullFailures: {
    name: 'semaphore_wg_sync_queue_full_failures_total',
    type: 'counter',
    help: 'Always 0: the queue has no limit.',
    labels: { device },
  },
  requeues: {
    name: 'semaphore_wg_sync_requeue_total',
    type: 'counter',
    help: 'Retries of devices after a failure.',
    labels: { device },
  },
  nodeWatcherFailures: {
    name: 'semaphore_wg_node_watcher_failures_total',
    type: 'counter',
    help: 'Failed lists and watches of remote Nodes.',
    labels: { cluster: {}, verb: { values: ['list', 'watch'] } },
  },
  deviceInfo: {
    name: 'semaphore_wg_device_info',
    type: 'gauge',
    help: 'Always 1: a device with its key.',
    labels: { device, public_key: { help: 'key of the device' } },
  },
  peerInfo: {
    name: 'semaphore_wg_peer_info',
    type: 'gauge',
    help: 'Always 1: a peer with its endpoint.',
    labels: { device, public_key, endpoint: { help: 'address and port, or empty' } },
  },
  peerAllowedIps: {
    name: 'semaphore_wg_peer_allowed_ips_info',
    type: 'gauge',
    help: 'Always 1: a CIDR of a peer.',
    labels: { device, public_key, allowed_ips: {} },
  },
  peerReceivedBytes: {
    name: 'semaphore_wg_peer_receive_bytes_total',
    type: 'counter',
    help: 'Bytes from a peer.',
    labels: { device, public_key },
  },
  peerSentBytes: {
    name: 'semaphore_wg_peer_transmit_bytes_total',
    type: 'counter',
    help: 'Bytes to a peer.',
    labels: { device, public_key },
  },
  peerLastHandshake: {
    name: 'semaphore_wg_peer_last_handshake_seconds',
    type: 'gauge',
    help: 'Unix time of the last handshake; 0 before the first.',
    labels: { device, public_key },
  },
} as const satisfies MetricTable;

/** The instruments of the app. */
export type WireGuardMetrics = Instruments<typeof metrics>;
