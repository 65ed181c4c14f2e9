import { restartReasons } from '@kube-semaphore/informers';
import { leaderMetrics, podAddressMetrics, sharedMetrics, type Instruments, type MetricTable } from '@kube-semaphore/runtime';

const host = { help: 'host and port of the API server' };
const method = { help: 'of HTTP: `GET`, `POST`, `PUT`, `DELETE`' };
const watcher = {
  help:
    '`<cluster>-serviceWatcher`, `-mirrorServiceWatcher`, `-endpointsWatcher`, `-mirrorEndpointsWatcher`, ' +
    '`-endpointSliceWatcher` or `-mirrorEndpointSliceWatcher`',
};
const kind = { values: ['service', 'endpoints', 'endpointslice'] } as const;
const runner = { help: '`mirror-<cluster>` or `global-<cluster>`' };
const name = { help: '`<cluster>-service`, `-endpoints`, `-global-service` or `-endpointslice`' };

/** The shared metrics, and those of the Go program under their old names. */
export const metrics = {
  ...sharedMetrics('semaphore_service_mirror', restartReasons),
  ...leaderMetrics('semaphore_service_mirror'),
  ...podAddressMetrics('semaphore_service_mirror'),
  heldDeletions: {
    name: 'semaphore_service_mirror_held_deletions',
    type: 'gauge',
    help: 'Services and EndpointSlices, also from before the start, that a list lacked and that are kept until the next one.',
    labels: { remote: { help: 'the remote cluster' } },
  },
  mirrorsWithoutReadyEndpoints: {
    name: 'semaphore_service_mirror_mirrors_without_ready_endpoints',
    type: 'gauge',
    help: 'Mirrors none of whose endpoints is ready: connections to them fail. A Service that is scaled to 0 counts.',
    labels: { remote: { help: 'the remote cluster' } },
  },
  repairs: {
    name: 'semaphore_service_mirror_repairs_total',
    type: 'counter',
    help: 'Writes of objects that answer no event of a remote: what somebody changed or deleted was put right.',
    labels: { remote: { help: 'the remote cluster, or `global` for what all clusters share' } },
  },
  kubeRequests: {
    name: 'semaphore_service_mirror_kube_http_request_total',
    type: 'counter',
    help: 'Requests to API servers.',
    labels: { host, code: { help: 'the status of the answer, or `<error>`' }, method },
  },
  kubeRequestDuration: {
    name: 'semaphore_service_mirror_kube_http_request_duration_seconds',
    type: 'histogram',
    help: 'From sending a request to the head of its answer.',
    labels: { host, method },
  },
  watcherObjects: {
    name: 'semaphore_service_mirror_kube_watcher_objects',
    type: 'gauge',
    help: 'Objects that a watcher knows. Those of kind endpoints are EndpointSlices here.',
    labels: { watcher, kind, runner },
  },
  watcherEvents: {
    name: 'semaphore_service_mirror_kube_watcher_events_total',
    // As in the Go program, in spite of its name.
    type: 'gauge',
    help: 'Events that a watcher saw since the start.',
    labels: { watcher, kind, event_type: { values: ['ADDED', 'MODIFIED', 'DELETED'] }, runner },
  },
  queueDepth: {
    name: 'semaphore_service_mirror_queue_depth',
    type: 'gauge',
    help: 'Keys that wait to be worked.',
    labels: { name },
  },
  queueAdds: {
    name: 'semaphore_service_mirror_queue_adds_total',
    type: 'counter',
    help: 'Keys that were added to the queue.',
    labels: { name },
  },
  queueLatency: {
    name: 'semaphore_service_mirror_queue_latency_duration_seconds',
    type: 'histogram',
    help: 'How long a key waited to be worked.',
    labels: { name },
  },
  queueWorkDuration: {
    name: 'semaphore_service_mirror_queue_work_duration_seconds',
    type: 'histogram',
    help: 'How long a key was worked.',
    labels: { name },
  },
  queueUnfinishedWork: {
    name: 'semaphore_service_mirror_queue_unfinished_work_seconds',
    type: 'gauge',
    help: 'How long the keys that are worked now have been, added up.',
    labels: { name },
  },
  queueLongestRunning: {
    name: 'semaphore_service_mirror_queue_longest_running_processor_seconds',
    type: 'gauge',
    help: 'How long the key that is worked for the longest time now has been.',
    labels: { name },
  },
  queueRetries: {
    name: 'semaphore_service_mirror_queue_retries_total',
    type: 'counter',
    help: 'Keys that were added again after a failure.',
    labels: { name },
  },
  queueRequeued: {
    name: 'semaphore_service_mirror_queue_requeued_items',
    type: 'gauge',
    help: 'Keys that failed and have not succeeded since.',
    labels: { name },
  },
} as const satisfies MetricTable;

/** What the app's code moves. */
export type MirrorMetrics = Instruments<typeof metrics>;
