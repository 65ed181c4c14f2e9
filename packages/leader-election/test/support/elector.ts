import { connect } from '@kube-semaphore/cluster-auth';
import { KubeClient } from '@kube-semaphore/kube-client';
import { LeaderElector, leaseLock, type LeaderTimes } from '../../src/index.ts';

/** The namespace of the Leases of these tests. */
export const NAMESPACE = 'default';

/** The role of a replica. */
export const ELECTION_RULES = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** For tests that wait until a Lease ends; long enough for a busy machine. */
export const SHORT: LeaderTimes = { leaseDurationMs: 8_000, renewDeadlineMs: 6_000, retryPeriodMs: 250 };

/** For tests in which no Lease may end. */
export const LONG: LeaderTimes = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 250 };

export type ElectorOptions = {
  readonly kubeconfig: string;
  /** Name of the Lease. */
  readonly lease: string;
  readonly identity: string;
  readonly times: LeaderTimes;
};

const QUIET = { info: () => {}, warn: () => {} };

/** An elector for a cluster, with a record of what happens. The caller closes the connection. */
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
