import { readFileSync } from 'node:fs';
import { LeaderElector, leaderIdentity, type Leadership, leaseLock, SoleLeader } from '@kube-semaphore/controller';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { isDnsSubdomain } from '@kube-semaphore/naming';
import type { Logger } from '@kube-semaphore/runtime';
import { ConfigError } from './config-error.ts';
import type { PolicyOptions } from './options.ts';

/** Where kubelet tells a pod its namespace. */
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * How this replica gets to write: at once, or while it holds the Lease.
 *
 * @param remotes the names of our remote clusters; several replicas that serve the same share one Lease
 * @throws {ConfigError} if the Lease's namespace is neither given nor to be found
 */
export function leadershipOf(options: PolicyOptions, { client, remotes, log }: { client: KubeClient; remotes: readonly string[]; log: Logger }): Leadership {
  if (!options.leaderElect) return new SoleLeader();
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const namespace = options.leaseNamespace ?? podNamespace();
  const name = options.leaseName ?? `semaphore-policy-${remotes.toSorted().join('-')}`;
  if (!isDnsSubdomain(name)) throw new ConfigError(`${name} is no name of a Lease: give one with -lease-name or SP_LEASE_NAME`);
  const identity = leaderIdentity();
  log.info({ namespace, lease: name, identity }, 'waiting for the Lease');
  return new LeaderElector({
    lock: leaseLock(client, { namespace, name }),
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    hooks: {
      onChange: (isLeader) => log.info({ lease: name }, isLeader ? 'leading' : 'leading no more'),
      onNewLeader: (holder) => log.info({ lease: name, holder }, 'the Lease has a new holder'),
      onFailure: (error) => log.warn({ lease: name, error }, 'the Lease could not be read or written'),
    },
  });
}

function podNamespace(): string {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim();
  } catch {
    // Outside of a pod there is no such file.
    throw new ConfigError('-lease-namespace or SP_LEASE_NAMESPACE is required for -leader-elect outside of a pod');
  }
}
