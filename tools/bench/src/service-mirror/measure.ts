import { usageOf } from '../measure/usage.ts';
import type { Bench } from '../phases/bench.ts';
import { coldSync } from '../phases/cold-sync.ts';
import { idle } from '../phases/idle.ts';
import { CHANGES_PER_SECOND, propagation } from '../phases/propagation.ts';
import { restart } from '../phases/restart.ts';
import { type Rollout, rollout } from '../phases/rollout.ts';
import { within } from '../measure/program.ts';
import type { Trial } from '../phases/run.ts';
import { whenComplete } from '../phases/when-complete.ts';
import type { RemoteService } from './catalog.ts';
import { expectedMirrors } from './mirrors.ts';
import type { MirrorOptions } from './options.ts';
import type { Source } from './source.ts';

/** Runs one program through all phases. */
export async function measureMirror(
  bench: Bench,
  source: Source,
  { result, account, start, say }: Trial,
  { changes, rolloutPods, settleSeconds, idleSeconds }: MirrorOptions,
): Promise<void> {
  const { services } = source.catalog;
  const changesOf = (some: readonly RemoteService[]) => some.map((service) => source.replacement(service, 0));

  say('cold sync');
  let program = start();
  const expected = expectedMirrors(services);
  result.coldSync = await coldSync(bench, program, { signal: within(program), expected, account, settleSeconds });

  say('a restart');
  await program.stop();
  const [meanwhile] = changesOf(services.slice(-1));
  if (meanwhile === undefined) throw new RangeError('the catalog is empty');
  const restarted = () => (program = start());
  result.restart = await restart(bench, meanwhile, { start: restarted, account, settleSeconds });

  say(`${changes} changes, ${CHANGES_PER_SECOND} a second`);
  const steady = changesOf(services.slice(0, changes));
  result.steady = await propagation(bench, steady, program, {
    signal: within(program),
    account,
    pace: { perSecond: CHANGES_PER_SECOND },
  });

  say(`${changes} changes at full speed`);
  // Other Services than before, as a mirror that is written often waits.
  const burst = changesOf(services.slice(changes, 2 * changes));
  result.burst = await propagation(bench, burst, program, { signal: within(program), account, pace: 'at full speed' });

  say(`a rollout of ${rolloutPods} pods`);
  result.rollout = await rollOut(bench, source, { signal: within(program), pods: rolloutPods });

  if (idleSeconds > 0) {
    say(`${idleSeconds} s without changes`);
    result.idle = await idle(program, { signal: within(program), settleSeconds, idleSeconds });
  }
  const { peakMb } = await usageOf(program.pid);
  result.peakMb = Math.max(result.coldSync.peakMb, peakMb);
}

/** Rolls out a new version of a new mirror: its pods are replaced one by one. */
async function rollOut(
  bench: Bench,
  source: Source,
  { pods, signal }: { pods: number; signal: AbortSignal },
): Promise<Rollout> {
  const service = source.catalog.recruit('rollout', pods);
  try {
    await Promise.all([whenComplete(bench.watch, expectedMirrors([service]), { signal }), source.add(service)]);
    const replacements = service.backends.map((_, place) => source.replacement(service, place));
    return await rollout(bench, replacements, { signal });
  } finally {
    await source.remove(service);
  }
}
