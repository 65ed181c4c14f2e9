import { createPod, deletePod, pod } from '@kube-semaphore/testkit';
import { CONNECTIONS } from '../load/clusters.ts';
import { inParallel } from '../measure/pace.ts';
import { type Rollout, rollout } from '../phases/rollout.ts';
import { addressChange, type PolicyBench } from './bench.ts';

/** The workload that is rolled out. */
export const ROLLOUT = 'rollout';

/** Rolls out a new set: its pods exist, and get their addresses. */
export async function rollOut(
  bench: PolicyBench,
  { pods, signal }: { pods: number; signal: AbortSignal },
): Promise<Rollout> {
  const members = bench.fleet.recruit(ROLLOUT, pods);
  const { admin } = bench.remote.api;
  await inParallel(members, CONNECTIONS, (member) => createPod(admin, pod(bench.fleet.podOptions(member))));
  try {
    return await rollout(
      bench,
      members.map((member) => addressChange(bench, member)),
      { signal },
    );
  } finally {
    await inParallel(members, CONNECTIONS, (member) => deletePod(admin, member));
  }
}
