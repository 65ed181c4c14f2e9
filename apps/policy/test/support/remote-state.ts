import { eventually } from './eventually.ts';
import type { PolicyProcess } from './policy-process.ts';

/** Waits until a policy has tried in vain so many times to reach the remote, for one reason. */
export async function hasFailed(policy: PolicyProcess, reason: string, times = 2): Promise<void> {
  await eventually(async () => {
    const failures = await policy.metric('semaphore_policy_remote_watch_restarts_total', { remote: 'c2', reason });
    return (failures ?? 0) >= times;
  }, true);
}

/** 1 while the remote answers, 0 while it doesn't. */
export const isUp = (policy: PolicyProcess) => policy.metric('semaphore_policy_remote_up', { remote: 'c2' });
