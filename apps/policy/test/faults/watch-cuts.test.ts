import { once } from 'node:events';
import type { Fault } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { restartsOf } from '../support/remote-state.ts';
import { it } from '../support/under-faults.ts';

const MINUTE_MS = 60_000;
const everySecond: Fault = { kind: 'cut', everyMs: 1_000, by: 'reset' };
const watches = { verb: 'watch' } as const;

describe('watches that are cut every second for a minute, on both sides', () => {
  it('hold no change back for long', { timeout: 4 * MINUTE_MS }, async ({ begin, viaProxies, remoteProxy, localProxy }) => {
    const trial = await begin(viaProxies);
    await Promise.all([remoteProxy.set(everySecond, watches), localProxy.set(everySecond, watches)]);
    const minute = AbortSignal.timeout(MINUTE_MS);
    let rounds = 0;
    for (; !minute.aborted; rounds += 1) {
      await trial.changePodsDuring(Promise.resolve());
      // Not only in the end.
      await trial.settled();
    }
    expect(rounds).toBeGreaterThanOrEqual(10);
    for (const remote of ['c2', 'local']) {
      // A pause after a cut takes 2 s at most, and it is a second at most until the next one.
      expect(await restartsOf(trial.policy, 'unreachable', remote)).toBeGreaterThanOrEqual(20);
    }
    await Promise.all([remoteProxy.clear(), localProxy.clear()]);
    await trial.survived();
  });
});
