import { faultKinds, faultSeed, play, randomSchedule } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it as itUnderFaults, sides } from '../support/under-faults.ts';

/** A seed that is printed, and that FAULT_SEED sets. */
const it = itUnderFaults.extend('seed', () => faultSeed());

const LASTS_MS = 20_000;

/** An empty list isn't told from a true one, but by the guard: deletion-guard.test.ts. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

describe('faults on both sides and changes at random', () => {
  it('cost nothing but time', { timeout: 180_000 }, async ({ seed, begin, viaProxies, proxies }) => {
    const trial = await begin({ ...viaProxies, 'watch-idle-timeout': '2s', 'log-level': 'debug' });
    const signal = AbortSignal.timeout(LASTS_MS);
    const playing = Promise.all([
      play(proxies.remote, randomSchedule(seed, { kinds }), { signal }),
      play(proxies.local, randomSchedule(seed + 1, { kinds }), { signal }),
    ]);
    await trial.changePodsDuring(playing);
    const steps = await playing;
    await trial.survived().catch((cause: unknown) => {
      throw new Error(`FAULT_SEED=${seed}: after ${JSON.stringify(steps)}`, { cause });
    });
    for (const { cluster } of sides) {
      const brokeOff = trial.policy.log().filter(({ msg, cluster: of }) => msg === 'watch broke off' && of === cluster);
      expect(brokeOff.length).toBeGreaterThan(5);
    }
  });
});
