import { restartReasons } from '@kube-semaphore/informers';
import {
  leaderMetrics,
  podAddressMetrics,
  sharedMetrics,
  type Instruments,
  type MetricTable,
} from '@kube-semaphore/runtime';

const success = { help: '`1` or `0`', values: ['0', '1'] } as const;

/** Explained on the page of common metrics. */
const remote = {};

/** The shared metrics, and those of the Go program under its names. */
export const metrics = {
  ...sharedMetrics('semaphore_policy', restartReasons),
  ...leaderMetrics('semaphore_policy'),
  ...podAddressMetrics('semaphore_policy'),
  heldDeletions: {
    name: 'semaphore_policy_held_deletions',
    type: 'gauge',
    help: 'Pods, or addresses from before the start, whose deletion is held until the next list.',
    labels: { remote },
  },
  repairs: {
    name: 'semaphore_policy_repairs_total',
    type: 'counter',
    help: 'Writes that restored what another program changed or deleted.',
    labels: { remote },
  },
  clusterIdDiffers: {
    name: 'semaphore_policy_cluster_id_differs',
    type: 'gauge',
    help: 'Whether the ClusterProperty of the remote has another id than our config: 1 or 0.',
    labels: { remote },
  },
  extendedPolicies: {
    name: 'semaphore_policy_extended_policies',
    type: 'gauge',
    help: 'NetworkPolicies that name the remote.',
    labels: { remote },
  },
  companions: {
    name: 'semaphore_policy_companions',
    type: 'gauge',
    help: 'Policies that extend NetworkPolicies by addresses of the remote.',
    labels: { remote },
  },
  companionAddresses: {
    name: 'semaphore_policy_companion_addresses',
    type: 'gauge',
    help: 'Addresses in them, each counted in every rule.',
    labels: { remote },
  },
  companionsBehind: {
    name: 'semaphore_policy_companions_behind',
    type: 'gauge',
    help: 'Those that were made from an earlier version of the extended NetworkPolicy, or whose NetworkPolicy is gone.',
    labels: { remote },
  },
  unknownClusters: {
    name: 'semaphore_policy_unknown_clusters',
    type: 'gauge',
    help: 'Clusters that NetworkPolicies name or exclude, and the config lacks.',
    labels: {},
  },
  calicoRequests: {
    name: 'semaphore_policy_calico_client_request_total',
    type: 'counter',
    help: 'Requests for GlobalNetworkSets to the local API server.',
    labels: { type: { values: ['list', 'watch', 'create', 'update', 'delete'] }, success },
  },
  podWatcherFailures: {
    name: 'semaphore_policy_pod_watcher_failures_total',
    type: 'counter',
    help: 'Failed lists and watches of remote Pods.',
    labels: { type: { values: ['list', 'watch'] } },
  },
  queueFullFailures: {
    name: 'semaphore_policy_sync_queue_full_failures_total',
    type: 'counter',
    help: 'Always 0: the queue has no limit.',
    labels: {},
  },
  requeues: {
    name: 'semaphore_policy_sync_requeue_total',
    type: 'counter',
    help: 'Retries of sets and companions after a failure.',
    labels: {},
  },
} as const satisfies MetricTable;

/** The metrics as the app's code sets them. */
export type PolicyMetrics = Instruments<typeof metrics>;
