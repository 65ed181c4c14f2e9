import { createPod, deletePod, pod } from '@kube-semaphore/testkit';
import { type Member, netOf, podOptions, setOf } from '../load/fleet.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { type Bench, CONNECTIONS, giveAddress } from './bench.ts';

/** Many pods of one set got their addresses within a few seconds. */
export type Rollout = {
  readonly pods: number;
  /** From before the first pod's address until all addresses were seen in the local set. */
  readonly seconds: number;
  /** How often the set was written in that time. */
  readonly writes: number;
};

const ROLLOUT_SECONDS = 5;

/** Rolls out a set that didn't exist: its pods are there and waiting, and get their addresses evenly over 5 s. */
export async function rollout(
  bench: Bench,
  { pods, signal }: { pods: number; signal: AbortSignal },
): Promise<Rollout> {
  const members = bench.fleet.recruit('rollout', pods);
  const { admin } = bench.remote.api;
  await inParallel(members, CONNECTIONS, (member) => createPod(admin, pod(podOptions(member))));
  try {
    return await giveAddresses(bench, members, signal);
  } finally {
    await inParallel(members, CONNECTIONS, (member) => deletePod(admin, member));
  }
}

async function giveAddresses(bench: Bench, members: readonly Member[], signal: AbortSignal): Promise<Rollout> {
  const key = setOf(members[0] ?? { namespace: '', app: '' });
  let given = 0;
  let writes = 0;
  const startMs = performance.now();
  const seen = bench.watch.until(
    (set) => {
      if (set.key !== key) return undefined;
      writes += 1;
      const complete = given === members.length && members.every((member) => set.nets.includes(netOf(member)));
      return complete ? set.atMs : undefined;
    },
    { signal },
  );
  const gave = atRate(members, { perSecond: members.length / ROLLOUT_SECONDS }, async (member) => {
    const done = giveAddress(bench, member);
    given += 1;
    await done;
  });
  const [seenAtMs] = await Promise.all([seen, gave]);
  return { pods: members.length, seconds: (seenAtMs - startMs) / 1000, writes };
}
