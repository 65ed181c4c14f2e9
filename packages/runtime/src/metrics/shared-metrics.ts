import type { MetricTable } from './metric-table.ts';

const remote = { help: 'name of the remote, or `local`' };

/** Buckets of 1 ms to 60 s, finest around the expected p50 and p99. */
const PROPAGATION_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Metrics of apps whose replicas elect one that writes. */
export function leaderMetrics<const Prefix extends string>(prefix: Prefix) {
  return {
    leader: {
      name: `${prefix}_leader`,
      type: 'gauge',
      help: 'Whether this replica may write; always 1 without -leader-elect.',
      labels: {},
    },
    failingObjects: {
      name: `${prefix}_failing_objects`,
      type: 'gauge',
      help: 'Local objects that could not be written for a minute, without those that are refused.',
      labels: { kind: { help: 'of the object, such as `Service`' } },
    },
  } as const satisfies MetricTable;
}

/** Metrics of apps that write addresses of remote Pods into local objects. */
export function podAddressMetrics<const Prefix extends string>(prefix: Prefix) {
  return {
    remoteUnrestricted: {
      name: `${prefix}_remote_unrestricted`,
      type: 'gauge',
      help: 'Whether the remote has no allowedPodCIDRs, so it may announce any address.',
      labels: { remote },
    },
  } as const satisfies MetricTable;
}

/**
 * The metrics that every app exports under its own prefix.
 *
 * @param prefix `semaphore_policy`
 * @param restartReasons why a watch is opened again, as `informers` names it
 */
export function sharedMetrics<const Prefix extends string>(prefix: Prefix, restartReasons: readonly string[]) {
  return {
    remoteUp: {
      name: `${prefix}_remote_up`,
      type: 'gauge',
      help: 'Whether the last exchange with the API server succeeded.',
      labels: { remote },
    },
    remoteLastSync: {
      name: `${prefix}_remote_last_sync_timestamp_seconds`,
      type: 'gauge',
      help: 'Unix time when the remote last confirmed what we know; at first, the start of the process.',
      labels: { remote },
    },
    remoteWatchRestarts: {
      name: `${prefix}_remote_watch_restarts_total`,
      type: 'counter',
      help: 'Watches opened again, by why the last one ended.',
      labels: { remote, reason: { values: restartReasons } },
    },
    remoteOverBudget: {
      name: `${prefix}_remote_over_budget`,
      type: 'gauge',
      help: 'Whether the remote exceeds a budget: watches stop (objects, bytes), writes wait, new sets and services are skipped.',
      labels: { remote, budget: { values: ['objects', 'bytes', 'writes', 'sets', 'services'] } },
    },
    propagation: {
      name: `${prefix}_propagation_seconds`,
      type: 'histogram',
      help: 'Time from a remote event, the oldest of a write, to the answer of the local API server.',
      labels: { remote },
      buckets: PROPAGATION_SECONDS,
    },
    skippedObjects: {
      name: `${prefix}_skipped_objects`,
      type: 'gauge',
      help: 'Objects that are skipped now; only kind "problem" needs action.',
      labels: { remote, reason: { help: 'see the page of the app' }, kind: { values: ['expected', 'problem'] } },
    },
    orphans: {
      name: `${prefix}_orphans`,
      type: 'gauge',
      help: 'Local objects of a cluster that is not in the config.',
      labels: { cluster: {} },
    },
    configStale: {
      name: `${prefix}_config_stale`,
      type: 'gauge',
      help: 'Whether a changed config file, inventory or kubeconfig is not in force as a whole; the log says why.',
      labels: {},
    },
  } as const satisfies MetricTable;
}
