import type { MetricTable } from './metric-table.ts';

const remote = { help: 'the remote cluster' };

/** Of a local write that follows a remote event: 1 ms to 60 s, finest where p50 and p99 are expected. */
const PROPAGATION_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

/** Of apps whose replicas elect one that writes. */
export function leaderMetrics<const Prefix extends string>(prefix: Prefix) {
  return {
    leader: {
      name: `${prefix}_leader`,
      type: 'gauge',
      help: 'Whether this replica may write: 1 or 0. Always 1 without -leader-elect.',
      labels: {},
    },
  } as const satisfies MetricTable;
}

/** Of apps that write addresses of remote Pods into local objects. */
export function podAddressMetrics<const Prefix extends string>(prefix: Prefix) {
  return {
    remoteUnrestricted: {
      name: `${prefix}_remote_unrestricted`,
      type: 'gauge',
      help: 'Whether the remote may bring in any address, as it has no `allowedPodCIDRs`: 1 or 0.',
      labels: { remote },
    },
  } as const satisfies MetricTable;
}

/**
 * The metrics that every app exports under its own prefix.
 *
 * @param prefix `semaphore_policy`
 * @param restartReasons why a watch is opened again, as `informers` names it; each starts at zero
 */
export function sharedMetrics<const Prefix extends string>(prefix: Prefix, restartReasons: readonly string[]) {
  return {
    remoteUp: {
      name: `${prefix}_remote_up`,
      type: 'gauge',
      help: 'Whether the last exchange with the API server succeeded: 1 or 0.',
      labels: { remote },
    },
    remoteLastSync: {
      name: `${prefix}_remote_last_sync_timestamp_seconds`,
      type: 'gauge',
      help: 'When what we know of the remote was last confirmed by it, in Unix time; before its first list, when the process began.',
      labels: { remote },
    },
    remoteWatchRestarts: {
      name: `${prefix}_remote_watch_restarts_total`,
      type: 'counter',
      help: 'Watches that were opened again, by what ended the one before.',
      labels: { remote, reason: { values: restartReasons } },
    },
    remoteOverBudget: {
      name: `${prefix}_remote_over_budget`,
      type: 'gauge',
      help: 'Whether the remote has more than we keep of one (objects, bytes: its watches stop), or makes us write or have more (writes wait, new sets and services are left out): 1 or 0.',
      labels: { remote, budget: { values: ['objects', 'bytes', 'writes', 'sets', 'services'] } },
    },
    propagation: {
      name: `${prefix}_propagation_seconds`,
      type: 'histogram',
      help: 'From seeing a remote event to the answer of the local write: one per write, for its oldest event.',
      labels: { remote },
      buckets: PROPAGATION_SECONDS,
    },
    skippedObjects: {
      name: `${prefix}_skipped_objects`,
      type: 'gauge',
      help: 'Remote objects that are left out now, by reason; only those of kind "problem" call for action.',
      labels: { remote, reason: { help: 'a word, also in the log' }, kind: { values: ['expected', 'problem'] } },
    },
    orphans: {
      name: `${prefix}_orphans`,
      type: 'gauge',
      help: 'Local objects that carry our label and a cluster that is not in the config.',
      labels: { cluster: { help: 'the cluster that they name' } },
    },
    configStale: {
      name: `${prefix}_config_stale`,
      type: 'gauge',
      help: 'Whether the config file changed on disk since it was read: 1 or 0.',
      labels: {},
    },
  } as const satisfies MetricTable;
}
