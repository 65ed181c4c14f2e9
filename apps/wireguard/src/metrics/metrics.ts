import { restartReasons } from '@kube-semaphore/informers';
import { sharedMetrics, type Instruments, type MetricTable } from '@kube-semaphore/runtime';

const remote = { help: 'the remote cluster' };
const device = { help: 'the device that leads to a remote' };
const public_key = { help: 'of the peer' };

/** The shared metrics, and those of the Go program under their old names. */
export const metrics = {
  ...sharedMetrics('semaphore_wg', restartReasons),
  heldDeletions: {
    name: 'semaphore_wg_held_deletions',
    type: 'gauge',
    help: 'Nodes, or peers from before the start, that a list lacked and that are kept until the next one.',
    labels: { remote },
  },
  repairs: {
    name: 'semaphore_wg_repairs_total',
    type: 'counter',
    help: 'Changes of a device, or of what our Node announces, that answer no event of the remote: something was put right.',
    labels: { remote },
  },
  peers: {
    name: 'semaphore_wg_peers',
    type: 'gauge',
    help: 'Peers by their last handshake: not too long ago (-stale-handshake), too long ago, or none yet.',
    labels: { device, state: { values: ['up', 'stale', 'never'] } },
  },
  kubeRequests: {
    name: 'semaphore_wg_kube_http_request_total',
    type: 'counter',
    help: 'Requests to API servers.',
    labels: { host: { help: 'host and port of the API server' }, code: { help: 'the status of the answer, or `<error>`' }, method: { help: 'of HTTP: `GET`, `PATCH`' } },
  },
  syncPeers: {
    name: 'semaphore_wg_sync_peers_total',
    type: 'counter',
    help: 'Comparisons of a device with what it should be, with what had to be changed.',
    labels: { device, success: { help: '`1` or `0`', values: ['0', '1'] } },
  },
  queueFullFailures: {
    name: 'semaphore_wg_sync_queue_full_failures_total',
    type: 'counter',
    help: 'Changes that found the queue full: always 0, our queue holds keys and has no limit.',
    labels: { device },
  },
  requeues: {
    name: 'semaphore_wg_sync_requeue_total',
    type: 'counter',
    help: 'Devices that are tried again after a failure.',
    labels: { device },
  },
  nodeWatcherFailures: {
    name: 'semaphore_wg_node_watcher_failures_total',
    type: 'counter',
    help: 'Lists and watches of remote Nodes that failed.',
    labels: { cluster: remote, verb: { values: ['list', 'watch'] } },
  },
  deviceInfo: {
    name: 'semaphore_wg_device_info',
    type: 'gauge',
    help: 'Always 1: a device of ours with its public key.',
    labels: { device, public_key: { help: 'of the device' } },
  },
  peerInfo: {
    name: 'semaphore_wg_peer_info',
    type: 'gauge',
    help: 'Always 1: a peer with the endpoint that it has now.',
    labels: { device, public_key, endpoint: { help: 'address and port, or nothing' } },
  },
  peerAllowedIps: {
    name: 'semaphore_wg_peer_allowed_ips_info',
    type: 'gauge',
    help: 'Always 1: a block of addresses that a peer has.',
    labels: { device, public_key, allowed_ips: { help: 'one CIDR' } },
  },
  peerReceivedBytes: {
    name: 'semaphore_wg_peer_receive_bytes_total',
    type: 'counter',
    help: 'Bytes that came from a peer.',
    labels: { device, public_key },
  },
  peerSentBytes: {
    name: 'semaphore_wg_peer_transmit_bytes_total',
    type: 'counter',
    help: 'Bytes that went to a peer.',
    labels: { device, public_key },
  },
  peerLastHandshake: {
    name: 'semaphore_wg_peer_last_handshake_seconds',
    type: 'gauge',
    help: 'When the last handshake with a peer was, in Unix time; 0 before the first.',
    labels: { device, public_key },
  },
} as const satisfies MetricTable;

/** What the app's code moves. */
export type WireGuardMetrics = Instruments<typeof metrics>;
