import { usageOf } from '../measure/usage.ts';
import { coldSync } from '../phases/cold-sync.ts';
import { idle } from '../phases/idle.ts';
import { CHANGES_PER_SECOND, propagation } from '../phases/propagation.ts';
import { within } from '../measure/program.ts';
import type { Trial } from '../phases/run.ts';
import { addressChange, type PolicyBench } from './bench.ts';
import { expectedNets, type Member } from './fleet.ts';
import { reevaluation } from './network-policies.ts';
import type { PolicyOptions } from './options.ts';
import { rollOut } from './roll-out.ts';

/**
 * Runs one program through all phases.
 *
 * @param port of its health server; undefined: it writes sets, and no companions
 */
export async function measurePolicy(
  bench: PolicyBench,
  { result, account, start, say }: Trial,
  { changes, rolloutPods, settleSeconds, idleSeconds }: PolicyOptions,
  port: number | undefined,
): Promise<void> {
  const { fleet, fleets } = bench;
  const changesOf = (members: readonly Member[]) => members.map((member) => addressChange(bench, member));

  say('cold sync');
  const program = start();
  const expected = expectedNets(fleets.flatMap(({ members }) => members));
  result.coldSync = await coldSync(bench, program, { signal: within(program), expected, account, settleSeconds });

  say(`${changes} changes, ${CHANGES_PER_SECOND} a second`);
  const steady = changesOf(fleet.members.slice(0, changes));
  result.steady = await propagation(bench, steady, program, {
    signal: within(program),
    account,
    pace: { perSecond: CHANGES_PER_SECOND },
  });

  say(`${changes} changes at full speed`);
  // Other pods than before, as a set that is written often waits.
  const burst = changesOf(fleet.members.slice(changes, 2 * changes));
  result.burst = await propagation(bench, burst, program, { signal: within(program), account, pace: 'at full speed' });

  say(`a rollout of ${rolloutPods} pods`);
  result.rollout = await rollOut(bench, { signal: within(program), pods: rolloutPods });

  if (port !== undefined) {
    say('labels of all remote namespaces');
    result.reevaluation = await reevaluation(bench, program, port);
  }

  if (idleSeconds > 0) {
    say(`${idleSeconds} s without changes`);
    result.idle = await idle(program, { signal: within(program), settleSeconds, idleSeconds });
  }
  result.peakMb = (await usageOf(program.pid)).peakMb;
}
