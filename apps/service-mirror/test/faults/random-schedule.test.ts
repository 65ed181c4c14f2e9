import { eventually } from '@kube-semaphore/eventually';
import { faultKinds, faultSeed, play, randomSchedule } from '@kube-semaphore/fault-proxy';
import { expect } from 'vitest';
import { it as itUnderFaults } from '../support/under-faults.ts';

/** A seed that is printed, and that FAULT_SEED sets. */
const it = itUnderFaults.extend('seed', () => faultSeed());

/** Without empty lists, which only the deletion guard distinguishes from true ones. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

it('survives random faults on both sides and random changes', async ({ seed, lab: { begin, proxies } }) => {
  const scenario = await begin({ 'watch-idle-timeout': '2s', 'log-level': 'debug' });
  const over = new AbortController();
  const playing = Promise.all([
    play(proxies.remote, randomSchedule(seed, { kinds }), over),
    play(proxies.local, randomSchedule(seed + 1, { kinds }), over),
  ]);
  const areFelt = async () =>
    (await scenario.restarted('remote', { times: 5 })) && scenario.restarted('local', { times: 5 });
  const felt = eventually(areFelt, true).finally(() => over.abort());
  await scenario.changeDuring(Promise.all([playing, felt]));
  expect(await scenario.outcome(), `FAULT_SEED=${seed}: ${JSON.stringify(await playing)}`).toEqual({
    gaps: [],
    errors: [],
    healthz: 200,
  });
});
