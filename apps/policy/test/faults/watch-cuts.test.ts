import type { Fault } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { restartsOf } from '../support/remote-state.ts';
import { it, sides } from '../support/under-faults.ts';

const MINUTE_MS = 60_000;
const everySecond: Fault = { kind: 'cut', everyMs: 1_000, by: 'reset' };
const watches = { verb: 'watch' } as const;

describe('watches that are cut every second for a minute, on both sides', () => {
  it('hold no change back for long', { timeout: 5 * MINUTE_MS }, async ({ begin, viaProxies, proxies }) => {
    const trial = await begin(viaProxies);
    await Promise.all([proxies.remote.set(everySecond, watches), proxies.local.set(everySecond, watches)]);
    const minute = AbortSignal.timeout(MINUTE_MS);
    let rounds = 0;
    for (; !minute.aborted; rounds += 1) {
      await trial.changePods();
      // Not only in the end.
      await trial.settled();
    }
    expect(rounds).toBeGreaterThanOrEqual(10);
    // A watch lives for a second at most, and the pause after it takes two.
    for (const { cluster } of sides) {
      expect(await restartsOf(trial.policy, 'unreachable', cluster)).toBeGreaterThanOrEqual(MINUTE_MS / 3_000);
    }
    await Promise.all([proxies.remote.clear(), proxies.local.clear()]);
    await trial.survived();
  });
});
