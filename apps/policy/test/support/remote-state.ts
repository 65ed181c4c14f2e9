import { eventually } from '@kube-semaphore/eventually';
import { remoteUp, watchRestarts } from '@kube-semaphore/testkit';
import type { PolicyProcess } from './policy-process.ts';

/** What the metrics of a policy begin with. */
export const prefix = 'semaphore_policy';

/** Waits until a policy has tried in vain so many times to reach the remote, for one reason. */
export async function hasFailed(policy: PolicyProcess, reason: string, times = 2): Promise<void> {
  await eventually(async () => (await watchRestarts(policy, { prefix, cluster: 'c2', reason })) >= times, true);
}

/** 1 while the remote answers, 0 while it doesn't. */
export const isUp = (policy: PolicyProcess): Promise<number | undefined> => remoteUp(policy, { prefix, cluster: 'c2' });
