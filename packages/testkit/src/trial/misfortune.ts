import { faultKinds, play, randomSchedule } from '../faults/schedule.ts';
import type { Lab } from './lab.ts';

/** An empty list isn't told from a true one, but by the guard: that has tests of its own. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

/** Faults on both sides and changes, all of them at random but by a seed. */
export async function randomFaults({ begin, proxies }: Lab, { seed, lastsMs }: { readonly seed: number; readonly lastsMs: number }): Promise<void> {
  const trial = await begin({ flags: { 'watch-idle-timeout': '2s', 'log-level': 'debug' } });
  const signal = AbortSignal.timeout(lastsMs);
  const playing = Promise.all([
    play(proxies.remote, randomSchedule(seed, { kinds }), { signal }),
    play(proxies.local, randomSchedule(seed + 1, { kinds }), { signal }),
  ]);
  await trial.changeDuring(playing);
  const steps = await playing;
  await trial.survived().catch((cause: unknown) => {
    throw new Error(`FAULT_SEED=${seed}: after ${JSON.stringify(steps)}`, { cause });
  });
  for (const side of ['remote', 'local'] as const) {
    if (!(await trial.restarted(side, { times: 5 }))) throw new Error(`FAULT_SEED=${seed}: hardly anything happened to the ${side} watches`);
  }
}
