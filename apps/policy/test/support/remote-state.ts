import { eventually } from '@kube-semaphore/eventually';
import { remoteUp, watchRestarts } from '@kube-semaphore/testkit';
import type { PolicyProcess } from './policy-process.ts';

/** The prefix of a policy's metrics. */
export const prefix = 'semaphore_policy';

/** Waits until a policy's watches of the remote have failed so many times for one reason. */
export async function hasFailed(policy: PolicyProcess, reason: string, times = 2): Promise<void> {
  await eventually(async () => (await watchRestarts(policy, { prefix, cluster: 'c2', reason })) >= times, true);
}

/** 1 while the remote answers, 0 while it doesn't. */
export const isUp = (policy: PolicyProcess): Promise<number | undefined> => remoteUp(policy, { prefix, cluster: 'c2' });
