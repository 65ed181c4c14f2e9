import type { Fault } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { it } from '../support/under-faults.ts';

const MINUTE_MS = 60_000;
const cut: Fault = { kind: 'cut', everyMs: 1_000, by: 'reset' };

describe('watches that are cut every second for a minute, on both sides', () => {
  it('delay no change for long', async ({ lab: { begin, proxies } }) => {
    const scenario = await begin();
    await Promise.all([proxies.remote.set(cut, { verb: 'watch' }), proxies.local.set(cut, { verb: 'watch' })]);
    // A watch lives for a second at most, and the pause after it lasts two.
    const often = { reason: 'unreachable', times: MINUTE_MS / 3_000 };
    const wereCut = async () => (await scenario.restarted('remote', often)) && scenario.restarted('local', often);
    const began = performance.now();
    let rounds = 0;
    // A busy machine gets two minutes. A program that waits ever longer needs more.
    for (let tookMs = 0; tookMs < MINUTE_MS || (tookMs < 2 * MINUTE_MS && (rounds < 10 || !(await wereCut())));) {
      await scenario.change();
      await scenario.settled();
      rounds += 1;
      tookMs = performance.now() - began;
    }
    expect(rounds).toBeGreaterThanOrEqual(10);
    expect(await wereCut()).toBe(true);
    await Promise.all([proxies.remote.clear(), proxies.local.clear()]);
    expect(await scenario.outcome()).toEqual({ gaps: [], errors: [], healthz: 200 });
  });
});
