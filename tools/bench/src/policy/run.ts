import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { enrol } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { type Program, startProgram } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';
import { type Bench, removeSets } from './bench.ts';
import { coldSync } from './cold-sync.ts';
import { propagation } from './propagation.ts';
import type { Result } from './result.ts';
import { rollout } from './rollout.ts';

/** How much of everything. */
type Extent = {
  /** Pods that change their addresses, at a steady rate and then others in a burst: half of all pods at most. */
  readonly changes: number;
  readonly rolloutPods: number;
  readonly settleSeconds: number;
  /** 0: not measured. */
  readonly idleSeconds: number;
};

/** How one program is run. */
export type RunOptions = {
  /** Name of its ServiceAccount on both clusters, by which its requests are told from others'. */
  readonly account: string;
  readonly extent: Extent;
  /** Hears of each phase as it begins. */
  readonly say: (phase: string) => void;
};

const CHANGES_PER_SECOND = 20;
/** A program that is limited to 5 requests a second takes 200 s for 500 sets. */
const PHASE_TIMEOUT_MS = 600_000;

/**
 * Runs one program from its start on an empty local cluster to its end, and leaves that empty. What the program does
 * wrong is in the result.
 */
export async function run(contender: Contender, bench: Bench, options: RunOptions): Promise<Result> {
  const { account } = options;
  const result: Result = { name: contender.name };
  const files = await enrol(account, bench);
  const remotes = files.remotes.map(({ kubeconfig }, index) => ({ name: `c${index + 2}`, kubeconfig }));
  const command = await contender.command({ local: files.local.kubeconfig, remotes, dir: bench.local.api.dir });
  const program = startProgram(command, { log: join(bench.local.api.dir, `${account}.log`) });
  try {
    await measure(result, bench, { ...options, program });
  } catch (error) {
    const { message } = (program.signal.aborted ? program.signal.reason : error) as Error;
    result.failure = message;
  } finally {
    await program.stop();
    await removeSets(bench);
  }
  return result;
}

async function measure(
  result: Result,
  bench: Bench,
  { account, extent, say, program }: RunOptions & { program: Program },
): Promise<void> {
  const { changes, rolloutPods, settleSeconds, idleSeconds } = extent;
  const { members } = bench.fleet;
  const within = () => ({ signal: AbortSignal.any([program.signal, AbortSignal.timeout(PHASE_TIMEOUT_MS)]) });

  say('cold sync');
  result.coldSync = await coldSync(bench, program, { ...within(), account, settleSeconds });

  say(`${changes} changes, ${CHANGES_PER_SECOND} a second`);
  const pace = { perSecond: CHANGES_PER_SECOND };
  result.steady = await propagation(bench, members.slice(0, changes), { ...within(), account, pace });

  say(`${changes} changes as fast as they go`);
  // Others than before, so that no set rests from its last write.
  const others = members.slice(changes, 2 * changes);
  result.burst = await propagation(bench, others, { ...within(), account, pace: 'as fast as they go' });

  say(`a rollout of ${rolloutPods} pods`);
  result.rollout = await rollout(bench, { ...within(), pods: rolloutPods });

  if (idleSeconds > 0) {
    say(`${idleSeconds} s of nothing`);
    result.idleCpuPercent = await idleCpu(program, { ...within(), settleSeconds, idleSeconds });
  }
  result.peakMb = (await usageOf(program.pid)).peakMb;
}

async function idleCpu(
  { pid }: Program,
  { settleSeconds, idleSeconds, signal }: { settleSeconds: number; idleSeconds: number; signal: AbortSignal },
): Promise<number> {
  await delay(settleSeconds * 1000, undefined, { signal });
  const before = await usageOf(pid);
  await delay(idleSeconds * 1000, undefined, { signal });
  const after = await usageOf(pid);
  return (100 * (after.cpuSeconds - before.cpuSeconds)) / idleSeconds;
}
