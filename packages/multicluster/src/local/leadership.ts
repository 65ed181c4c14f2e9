import { readFileSync } from 'node:fs';
import {
  LeaderElector,
  leaderIdentity,
  type Leadership,
  leaseLock,
  previousLeaseLock,
  SoleLeader,
} from '@kube-semaphore/leader-election';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { isDnsLabel, isDnsSubdomain } from '@kube-semaphore/naming';
import type { LeaderElectionOptions } from '@kube-semaphore/options';
import { ConfigError, type Instruments, type leaderMetrics, type Logger } from '@kube-semaphore/runtime';

/** Where kubelet tells a pod its namespace. */
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

export type LeadershipInput = {
  /** Of the local cluster. */
  readonly client: KubeClient;
  /** The Lease's name unless the options have one. */
  readonly leaseName: string;
  /** Of the app's variables: `SP`. */
  readonly prefix: string;
  readonly log: Logger;
  readonly metrics: Instruments<ReturnType<typeof leaderMetrics>>;
};

/**
 * How this replica gets to write: at once, or while it holds the Lease.
 *
 * @throws {ConfigError} if the Lease's name or a namespace is none, or the namespace is neither given nor to be found
 */
export function leadershipOf(
  options: LeaderElectionOptions,
  { client, leaseName, prefix, log, metrics }: LeadershipInput,
): Leadership {
  if (!options.leaderElect) {
    metrics.leader.set({}, 1);
    return new SoleLeader();
  }
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const namespace = options.leaseNamespace ?? podNamespace(prefix);
  const previous = options.previousLeaseNamespace;
  const name = options.leaseName ?? leaseName;
  if (!isDnsSubdomain(name))
    throw new ConfigError(`${name} is no name of a Lease: give one with -lease-name or ${prefix}_LEASE_NAME`);
  if (!isDnsLabel(namespace))
    throw new ConfigError(
      `${namespace} is no name of a namespace: give one with -lease-namespace or ${prefix}_LEASE_NAMESPACE`,
    );
  if (previous !== undefined && !isDnsLabel(previous))
    throw new ConfigError(
      `${previous} is no name of a namespace: give one with -previous-lease-namespace or ${prefix}_PREVIOUS_LEASE_NAMESPACE`,
    );
  const identity = leaderIdentity();
  const lease = `${namespace}/${name}`;
  log.info({ lease, identity }, 'waiting for the Lease');
  metrics.leader.set({}, 0);
  const failures = new LeaseFailures(log);
  return new LeaderElector({
    lock: leaseLock(client, { namespace, name }),
    previousLock:
      previous === undefined || previous === namespace
        ? undefined
        : previousLeaseLock(client, { namespace: previous, name }),
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    hooks: {
      onChange: (isLeader) => {
        metrics.leader.set({}, isLeader ? 1 : 0);
        log.info({ lease }, isLeader ? 'leading' : 'leading no more');
      },
      onNewLeader: (holder, held) => log.info({ lease: held, holder }, 'the Lease has a new holder'),
      onFailure: (error, failed) => failures.failed(error, failed),
      onAnswer: (answered) => failures.answered(answered),
    },
  });
}

/** Tells of an outage once when it begins, and once when it is over, for each Lease. */
class LeaseFailures {
  readonly #log: Logger;
  readonly #failing = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  failed(error: unknown, lease: string): void {
    this.#log[this.#failing.has(lease) ? 'debug' : 'warn']({ lease, error }, 'the Lease could not be read or written');
    this.#failing.add(lease);
  }

  answered(lease: string): void {
    if (this.#failing.delete(lease)) this.#log.info({ lease }, 'the Lease can be read and written again');
  }
}

function podNamespace(prefix: string): string {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim();
  } catch {
    // Outside of a pod there is no such file.
    throw new ConfigError(
      `-lease-namespace or ${prefix}_LEASE_NAMESPACE is required for -leader-elect outside of a pod`,
    );
  }
}
