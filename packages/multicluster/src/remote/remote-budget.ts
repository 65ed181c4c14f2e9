import { totalmem } from 'node:os';
import { RemoteBudget } from '@kube-semaphore/informers';
import type { CommonOptions } from '@kube-semaphore/options';

const MIB = 1024 * 1024;

/** What a remote gets in any case: some 140,000 Pods. */
const LEAST_MIB = 64;

/** What a remote gets at most where no limit of memory is set: far more than any cluster has, far less than a machine has. */
const MOST_UNLIMITED_MIB = 1024;

/**
 * `-max-remote-mib` where it isn't given: a quarter of the memory that the process may use.
 *
 * @param limitBytes the limit of the process's cgroup: 0, or more than the machine has, if there is none
 * @param totalBytes of the machine
 */
export function defaultRemoteMib(limitBytes: number, totalBytes: number): number {
  const isLimited = limitBytes > 0 && limitBytes <= totalBytes;
  const quarter = Math.floor((isLimited ? limitBytes : totalBytes) / 4 / MIB);
  return Math.max(LEAST_MIB, isLimited ? quarter : Math.min(MOST_UNLIMITED_MIB, quarter));
}

/** For all watches of one remote together: what `-max-remote-objects` and `-max-remote-mib` say. */
export function remoteBudget({ maxRemoteObjects, maxRemoteMib }: CommonOptions): RemoteBudget {
  const mib = maxRemoteMib ?? defaultRemoteMib(process.constrainedMemory(), totalmem());
  return new RemoteBudget({ objects: maxRemoteObjects, bytes: mib * MIB });
}
