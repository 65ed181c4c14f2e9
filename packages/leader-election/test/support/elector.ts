import { connect } from '@kube-semaphore/cluster-auth';
import { KubeClient } from '@kube-semaphore/kube-client';
import { LeaderElector, leaseLock, type LeaderTimes } from '../../src/index.ts';

/** Where the Leases of these tests are. */
export const NAMESPACE = 'default';

/** What a replica needs to be allowed. */
export const ELECTION_RULES = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** For tests that wait until a Lease runs out; long enough that a busy machine is no reason for it to do so. */
export const SHORT: LeaderTimes = { leaseDurationMs: 8_000, renewDeadlineMs: 6_000, retryPeriodMs: 250 };

/** For tests in which it must not. */
export const LONG: LeaderTimes = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 250 };

export type ElectorOptions = {
  readonly kubeconfig: string;
  /** Name of the Lease. */
  readonly lease: string;
  readonly identity: string;
  readonly times: LeaderTimes;
};

const QUIET = { info: () => {}, warn: () => {} };

/** An elector for a cluster, which writes down what happens. The caller closes the connection. */
export async function electorOf({ kubeconfig, lease, identity, times }: ElectorOptions) {
  const connection = await connect({ kind: 'kubeconfig', path: kubeconfig }, { env: {}, log: QUIET });
  const client = new KubeClient({ connection, userAgent: identity });
  const leaders: string[] = [];
  const failures: unknown[] = [];
  const elector = new LeaderElector({
    ...times,
    lock: leaseLock(client, { namespace: NAMESPACE, name: lease }),
    identity,
    hooks: { onNewLeader: (leader) => leaders.push(leader), onFailure: (error) => failures.push(error) },
  });
  return { connection, client, elector, leaders, failures };
}
