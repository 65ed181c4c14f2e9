import { restartReasons } from '@kube-semaphore/informers';
import {
  leaderMetrics,
  podAddressMetrics,
  sharedMetrics,
  type Instruments,
  type MetricTable,
} from '@kube-semaphore/runtime';

const host = { help: 'of the API server, with port' };
const method = { help: '`GET`, `POST`, `PUT`, `DELETE`' };
const watcher = {
  help:
    '`<cluster>-serviceWatcher`, `-mirrorServiceWatcher`, `-endpointsWatcher`, `-mirrorEndpointsWatcher`, ' +
    '`-endpointSliceWatcher` or `-mirrorEndpointSliceWatcher`',
};
const kind = { values: ['service', 'endpoints', 'endpointslice'] } as const;
const runner = { help: '`mirror-<cluster>` or `global-<cluster>`' };
const name = { help: '`<cluster>-service`, `-endpoints`, `-global-service`, `-endpointslice` or `-import`' };
/** Explained on the page of common metrics. */
const remote = {};

/** The shared metrics, and those of the Go program under their old names. */
export const metrics = {
  ...sharedMetrics('semaphore_service_mirror', restartReasons),
  ...leaderMetrics('semaphore_service_mirror'),
  ...podAddressMetrics('semaphore_service_mirror'),
  heldDeletions: {
    name: 'semaphore_service_mirror_held_deletions',
    type: 'gauge',
    help: 'Services and EndpointSlices whose deletion is held until the next list.',
    labels: { remote },
  },
  mirrorsWithoutReadyEndpoints: {
    name: 'semaphore_service_mirror_mirrors_without_ready_endpoints',
    type: 'gauge',
    help: 'Mirrors, or global Services, without a ready endpoint: connections fail. Services scaled to 0 count.',
    labels: { remote: { help: 'or `global` for global Services' } },
  },
  repairs: {
    name: 'semaphore_service_mirror_repairs_total',
    type: 'counter',
    help: 'Writes that restored what another program changed or deleted.',
    labels: { remote: { help: 'or `global` for global Services' } },
  },
  drainedSince: {
    name: 'semaphore_service_mirror_drained_since_seconds',
    type: 'gauge',
    help: 'When a cluster was drained, in seconds since 1970; 0 if that is unknown. Only of drained clusters.',
    labels: { cluster: { help: 'its name' } },
  },
  silentNodes: {
    name: 'semaphore_service_mirror_silent_nodes',
    type: 'gauge',
    help: 'Nodes of a remote that most of their witnesses call silent. Only with `gateByTunnel`.',
    labels: { remote },
  },
  orderedServices: {
    name: 'semaphore_service_mirror_ordered_services',
    type: 'gauge',
    help: 'Global Services and ServiceImports with an order of clusters, by who answers.',
    labels: { answers: { values: ['best', 'other', 'none'] } },
  },
  mcsExportsKnown: {
    name: 'semaphore_service_mirror_mcs_exports_known',
    type: 'gauge',
    help: '1 if the ServiceExports of a cluster are known, 0 if what is imported from it stays as it was. Only with `mcs`.',
    labels: { remote: { help: 'name of the cluster' } },
  },
  clusterIdDiffers: {
    name: 'semaphore_service_mirror_cluster_id_differs',
    type: 'gauge',
    help: 'Whether the ClusterProperty of the remote has another id than our config: 1 or 0. Only with `mcs`.',
    labels: { remote },
  },
  mcsImports: {
    name: 'semaphore_service_mirror_mcs_imports',
    type: 'gauge',
    help: 'ServiceImports that the program writes. Only with `mcs`.',
    labels: {},
  },
  kubeRequests: {
    name: 'semaphore_service_mirror_kube_http_request_total',
    type: 'counter',
    help: 'Requests to API servers.',
    labels: { host, code: { help: 'HTTP status, or `<error>`' }, method },
  },
  kubeRequestDuration: {
    name: 'semaphore_service_mirror_kube_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from a request to the head of its answer.',
    labels: { host, method },
  },
  watcherObjects: {
    name: 'semaphore_service_mirror_kube_watcher_objects',
    type: 'gauge',
    help: 'Objects that a watcher knows; kind endpoints means EndpointSlices.',
    labels: { watcher, kind, runner },
  },
  watcherEvents: {
    name: 'semaphore_service_mirror_kube_watcher_events_total',
    // As in the Go program, in spite of its name.
    type: 'gauge',
    help: 'Events since the start.',
    labels: { watcher, kind, event_type: { values: ['ADDED', 'MODIFIED', 'DELETED'] }, runner },
  },
  queueDepth: {
    name: 'semaphore_service_mirror_queue_depth',
    type: 'gauge',
    help: 'Keys that wait.',
    labels: { name },
  },
  queueAdds: {
    name: 'semaphore_service_mirror_queue_adds_total',
    type: 'counter',
    help: 'Keys added.',
    labels: { name },
  },
  queueLatency: {
    name: 'semaphore_service_mirror_queue_latency_duration_seconds',
    type: 'histogram',
    help: 'How long a key waited.',
    labels: { name },
  },
  queueWorkDuration: {
    name: 'semaphore_service_mirror_queue_work_duration_seconds',
    type: 'histogram',
    help: 'How long the work on a key took.',
    labels: { name },
  },
  queueUnfinishedWork: {
    name: 'semaphore_service_mirror_queue_unfinished_work_seconds',
    type: 'gauge',
    help: 'Sum of the times since work on current keys began.',
    labels: { name },
  },
  queueLongestRunning: {
    name: 'semaphore_service_mirror_queue_longest_running_processor_seconds',
    type: 'gauge',
    help: 'The longest of these times.',
    labels: { name },
  },
  queueRetries: {
    name: 'semaphore_service_mirror_queue_retries_total',
    type: 'counter',
    help: 'Retries after a failure.',
    labels: { name },
  },
  queueRequeued: {
    name: 'semaphore_service_mirror_queue_requeued_items',
    type: 'gauge',
    help: 'Keys that failed, and have not succeeded since.',
    labels: { name },
  },
} as const satisfies MetricTable;

/** What the app's code moves. */
export type MirrorMetrics = Instruments<typeof metrics>;
