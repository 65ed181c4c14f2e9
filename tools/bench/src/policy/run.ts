import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { enrol } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { inParallel } from '../measure/pace.ts';
import { type Program, startProgram } from '../measure/program.ts';
import { setsPath } from '../measure/set-watch.ts';
import { usageOf } from '../measure/usage.ts';
import { waitFor } from '@kube-semaphore/testkit';
import { type Bench, CONNECTIONS } from './bench.ts';
import { type ColdSync, coldSync } from './cold-sync.ts';
import { type Propagation, propagation } from './propagation.ts';
import { type Rollout, rollout } from './rollout.ts';

/** How much of everything. */
export type Extent = {
  /** Pods that change their addresses, at a steady rate and then in a burst. */
  readonly changes: number;
  readonly rolloutPods: number;
  readonly settleSeconds: number;
  /** 0: not measured. */
  readonly idleSeconds: number;
};

/** What was measured of one program. A phase that failed, and those after it, are missing. */
export type Result = {
  readonly name: string;
  coldSync?: ColdSync;
  steady?: Propagation;
  burst?: Propagation;
  rollout?: Rollout;
  /** CPU over a time in which nothing happens, in percent of one core. */
  idleCpuPercent?: number;
  /** Resident memory, the most in all phases. */
  peakMb?: number;
  /** Why there is no more. */
  failure?: string;
};

const CLUSTER = 'c2';
const CHANGES_PER_SECOND = 20;
/** A program that is limited to 5 requests a second takes 200 s for 500 sets. */
const PHASE_TIMEOUT_MS = 600_000;

/** Runs one program from its start on an empty local cluster to its end, and leaves that empty. */
export async function run(
  contender: Contender,
  bench: Bench,
  { account, extent, say }: { account: string; extent: Extent; say: (phase: string) => void },
): Promise<Result> {
  const result: Result = { name: contender.name };
  const files = await enrol(account, bench);
  const command = contender.command({ local: files.local.kubeconfig, remote: files.remote.kubeconfig, cluster: CLUSTER });
  const program = startProgram(command, { log: join(bench.local.api.dir, `${account}.log`) });
  try {
    await phases(result, bench, program, { account, extent, say });
  } catch (error) {
    result.failure = (error as Error).message;
  } finally {
    await program.stop();
    await removeSets(bench);
  }
  return result;
}

async function phases(
  result: Result,
  bench: Bench,
  program: Program,
  { account, extent, say }: { account: string; extent: Extent; say: (phase: string) => void },
): Promise<void> {
  const { changes, rolloutPods, settleSeconds, idleSeconds } = extent;
  const { members } = bench.fleet;
  const limited = () => ({ account, signal: AbortSignal.any([program.signal, AbortSignal.timeout(PHASE_TIMEOUT_MS)]) });

  say('cold sync');
  result.coldSync = await coldSync(bench, program, { ...limited(), settleSeconds });
  say(`${changes} changes, ${CHANGES_PER_SECOND} a second`);
  const pace = { perSecond: CHANGES_PER_SECOND };
  result.steady = await propagation(bench, members.slice(0, changes), { ...limited(), pace });
  say(`${changes} changes as fast as they go`);
  // Others than before, whose sets weren't just written.
  const others = members.slice(changes, 2 * changes);
  result.burst = await propagation(bench, others, { ...limited(), pace: 'as fast as they go' });
  say(`a rollout of ${rolloutPods} pods`);
  result.rollout = await rollout(bench, { ...limited(), pods: rolloutPods });
  if (idleSeconds > 0) {
    say(`${idleSeconds} s of nothing`);
    await delay(settleSeconds * 1000, undefined, limited());
    const before = await usageOf(program.pid);
    await delay(idleSeconds * 1000, undefined, limited());
    const after = await usageOf(program.pid);
    result.idleCpuPercent = (100 * (after.cpuSeconds - before.cpuSeconds)) / idleSeconds;
  }
  result.peakMb = (await usageOf(program.pid)).peakMb;
}

async function removeSets({ watch, local }: Bench): Promise<void> {
  await inParallel(watch.names, CONNECTIONS, (name) => local.api.admin.delete(`${setsPath}/${name}`));
  await waitFor('the sets to be gone', () => (watch.names.length === 0 ? true : undefined));
}
