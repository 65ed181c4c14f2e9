import { restartReasons } from '@kube-semaphore/informers';
import { leaderMetrics, podAddressMetrics, sharedMetrics, type Instruments, type MetricTable } from '@kube-semaphore/runtime';

const success = { help: '`1` or `0`', values: ['0', '1'] } as const;

/** The shared metrics, and those of the Go program under their old names. */
export const metrics = {
  ...sharedMetrics('semaphore_policy', restartReasons),
  ...leaderMetrics('semaphore_policy'),
  ...podAddressMetrics('semaphore_policy'),
  heldDeletions: {
    name: 'semaphore_policy_held_deletions',
    type: 'gauge',
    help: 'Pods, or addresses from before the start, that a list lacked and that are kept until the next one.',
    labels: { remote: { help: 'the remote cluster' } },
  },
  repairs: {
    name: 'semaphore_policy_repairs_total',
    type: 'counter',
    help: 'Writes of sets that answer no event of the remote: what somebody changed or deleted was put right.',
    labels: { remote: { help: 'the remote cluster' } },
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
    help: 'Lists and watches of remote pods that failed.',
    labels: { type: { values: ['list', 'watch'] } },
  },
  queueFullFailures: {
    name: 'semaphore_policy_sync_queue_full_failures_total',
    type: 'counter',
    help: 'Changes that found the queue full: always 0, our queue holds keys and has no limit.',
    labels: {},
  },
  requeues: {
    name: 'semaphore_policy_sync_requeue_total',
    type: 'counter',
    help: 'Sets that are tried again after a failure.',
    labels: {},
  },
} as const satisfies MetricTable;

/** What the app's code moves. */
export type PolicyMetrics = Instruments<typeof metrics>;
