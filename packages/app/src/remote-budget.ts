import { RemoteBudget } from '@kube-semaphore/informers';
import type { CommonOptions } from '@kube-semaphore/options';

/** For all watches of one remote together: what `-max-remote-objects` and `-max-remote-mib` say. */
export function remoteBudget({ maxRemoteObjects, maxRemoteMib }: CommonOptions): RemoteBudget {
  return new RemoteBudget({ objects: maxRemoteObjects, bytes: maxRemoteMib * 1024 * 1024 });
}
