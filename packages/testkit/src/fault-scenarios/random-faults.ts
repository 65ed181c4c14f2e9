import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { faultKinds, play, randomSchedule } from '@kube-semaphore/fault-proxy';
import type { Lab } from './lab.ts';

/** An empty list isn't told from a true one, but by the guard: that has tests of its own. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

/** Long enough for two of the longest pauses between two attempts. */
const UNTIL_RESTARTED_MS = 60_000;

/** Faults on both sides and changes, all of them at random but by a seed; so long, and until all watches felt it. */
export async function randomFaults(
  { begin, proxies }: Lab,
  { seed, lastsMs }: { readonly seed: number; readonly lastsMs: number },
): Promise<void> {
  const scenario = await begin({ flags: { 'watch-idle-timeout': '2s', 'log-level': 'debug' } });
  const over = new AbortController();
  const { signal } = over;
  const playing = Promise.all([
    play(proxies.remote, randomSchedule(seed, { kinds }), { signal }),
    play(proxies.local, randomSchedule(seed + 1, { kinds }), { signal }),
  ]);
  const isFelt = async () =>
    (await scenario.restarted('remote', { times: 5 })) && scenario.restarted('local', { times: 5 });
  const felt = delay(lastsMs)
    .then(() => eventually(isFelt, true, { timeoutMs: UNTIL_RESTARTED_MS }))
    .finally(() => over.abort());
  await scenario.changeDuring(Promise.all([playing, felt])).catch((cause: unknown) => {
    throw new Error(`FAULT_SEED=${seed}: while faults came and went`, { cause });
  });
  const steps = await playing;
  await scenario.survived().catch((cause: unknown) => {
    throw new Error(`FAULT_SEED=${seed}: after ${JSON.stringify(steps)}`, { cause });
  });
}
