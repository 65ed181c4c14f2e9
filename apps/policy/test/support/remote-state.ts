import { eventually } from '@kube-semaphore/testkit';
import { restartReasons } from '@kube-semaphore/informers';
import type { PolicyProcess } from './policy-process.ts';

/** How often a watch was opened again for one reason; of the remote, or of `local`. */
export async function restartsOf(policy: PolicyProcess, reason: string, remote = 'c2'): Promise<number> {
  return (await policy.metric('semaphore_policy_remote_watch_restarts_total', { remote, reason })) ?? 0;
}

/** How often a watch was opened again, for whatever reason. */
export async function allRestartsOf(policy: PolicyProcess, remote: string): Promise<number> {
  const counts = await Promise.all(restartReasons.map((reason) => restartsOf(policy, reason, remote)));
  return counts.reduce((sum, count) => sum + count);
}

/** Waits until a policy has tried in vain so many times to reach the remote, for one reason. */
export async function hasFailed(policy: PolicyProcess, reason: string, times = 2): Promise<void> {
  await eventually(async () => (await restartsOf(policy, reason)) >= times, true);
}

/** 1 while the remote, or `local`, answers, 0 while it doesn't. */
export const isUp = (policy: PolicyProcess, remote = 'c2') => policy.metric('semaphore_policy_remote_up', { remote });
