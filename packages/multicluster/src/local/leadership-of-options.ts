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

/** Where kubelet writes the namespace of a pod. */
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
 * How this replica may write: at once, or while it holds the Lease.
 *
 * @throws {ConfigError} if the name of the Lease or a namespace is invalid, or the namespace is neither given nor found
 */
export function leadershipOf(
  options: LeaderElectionOptions,
  { client, leaseName, prefix, log, metrics }: LeadershipInput,
): Leadership {
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, previousLeaseNamespace: previous } = options;
  if (!leaderElect) {
    metrics.leader.set({}, 1);
    return new SoleLeader();
  }
  const spelling = (flag: string): string => `-${flag} or ${prefix}_${flag.replaceAll('-', '_').toUpperCase()}`;
  const checkNamespace = (namespace: string, flag: string): void => {
    if (!isDnsLabel(namespace))
      throw new ConfigError(`"${namespace}" is not a valid namespace name: set ${spelling(flag)}`);
  };
  const namespace = options.leaseNamespace ?? podNamespace();
  if (namespace === undefined)
    throw new ConfigError(`${spelling('lease-namespace')} is required for -leader-elect outside of a pod`);
  const name = options.leaseName ?? leaseName;
  if (!isDnsSubdomain(name))
    throw new ConfigError(`"${name}" is not a valid Lease name: set ${spelling('lease-name')}`);
  checkNamespace(namespace, 'lease-namespace');
  if (previous !== undefined) checkNamespace(previous, 'previous-lease-namespace');
  const identity = leaderIdentity();
  const lease = `${namespace}/${name}`;
  log.info({ lease, identity }, 'waiting for the Lease');
  metrics.leader.set({}, 0);
  const hasPrevious = previous !== undefined && previous !== namespace;
  /** Leases whose last request failed. */
  const failing = new Set<string>();
  return new LeaderElector({
    lock: leaseLock(client, { namespace, name }),
    previousLock: hasPrevious ? previousLeaseLock(client, { namespace: previous, name }) : undefined,
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    hooks: {
      onChange: (isLeader) => {
        metrics.leader.set({}, isLeader ? 1 : 0);
        log.info({ lease }, isLeader ? 'started leading' : 'stopped leading');
      },
      onNewLeader: (holder, held) => log.info({ lease: held, holder }, 'Lease has a new holder'),
      onFailure: (error, failed) => {
        log[failing.has(failed) ? 'debug' : 'warn']({ lease: failed, error }, 'Lease request failed');
        failing.add(failed);
      },
      onAnswer: (answered) => {
        if (failing.delete(answered)) log.info({ lease: answered }, 'Lease requests recovered');
      },
    },
  });
}

function podNamespace(): string | undefined {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim();
  } catch {
    // There is no such file outside of a pod.
    return undefined;
  }
}
