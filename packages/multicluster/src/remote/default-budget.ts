import { totalmem } from 'node:os';
import { RemoteBudget } from '@kube-semaphore/informers';
import type { CommonOptions } from '@kube-semaphore/options';

const MIB = 1024 * 1024;

/** The minimum for a remote: some 140,000 Pods. */
const LEAST_MIB = 64;

/** The maximum for a remote without a memory limit: far more than any cluster needs, far less than a machine has. */
const MOST_UNLIMITED_MIB = 1024;

/**
 * The default of `-max-remote-mib`: a quarter of the memory that the process may use.
 *
 * @param limitBytes the limit of the process's cgroup: 0, or more than the machine has, if there is no limit
 * @param totalBytes of the machine
 */
export function defaultRemoteMib(limitBytes: number, totalBytes: number): number {
  const isLimited = limitBytes > 0 && limitBytes <= totalBytes;
  const quarter = Math.floor((isLimited ? limitBytes : totalBytes) / 4 / MIB);
  return Math.max(LEAST_MIB, isLimited ? quarter : Math.min(MOST_UNLIMITED_MIB, quarter));
}

/** The budget of all watches of one remote: `-max-remote-objects` and `-max-remote-mib`. */
export function remoteBudget({ maxRemoteObjects, maxRemoteMib }: CommonOptions): RemoteBudget {
  const mib = maxRemoteMib ?? defaultRemoteMib(process.constrainedMemory(), totalmem());
  return new RemoteBudget({ objects: maxRemoteObjects, bytes: mib * MIB });
}
