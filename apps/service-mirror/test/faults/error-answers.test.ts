import { eventually } from '@kube-semaphore/eventually';
import { errorAnswers, pausesOf, strikeWrites, struck, writeFailures } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itConcurrently as it } from '../support/under-faults.ts';

const unharmed = { gaps: [], errors: [], healthz: 200 };

describe('error answers', () => {
  it.for(errorAnswers)('of $name cost only time, on either side', async ({ fault, filter, reason }, { lab }) => {
    const scenario = await lab.begin();
    // One after the other: while the local answers fail, nothing shows what the remote's answers caused.
    for (const side of ['remote', 'local'] as const) {
      await lab.proxies[side].set(fault, filter);
      // Open watches, and those that the filter lets through, would last until they end.
      await lab.proxies[side].set({ kind: 'cut', everyMs: 500, by: 'reset' }, { verb: 'watch' });
      // The third failure in a row makes a watch list again.
      await scenario.changeUntil(
        async () => (await scenario.restarts(side, reason)) >= 3 && scenario.restarted(side, { reason, times: 2 }),
      );
      await lab.proxies[side].clear();
      expect(await scenario.outcome()).toEqual(unharmed);
    }
  });
});

const NOT_WRITTEN = 'service not written, retrying';

describe('if all local writes are', () => {
  it.for(writeFailures)('$name, they are retried, with one warning', async ({ fault }, { lab }) => {
    const scenario = await lab.begin({ flags: { 'log-level': 'debug' } });
    const { program } = scenario;
    await strikeWrites(lab, scenario, fault);
    await eventually(() => program.log().filter(({ msg }) => msg === NOT_WRITTEN).length > 1, true);
    expect(program.log().filter(({ level }) => level === 'warn')).toMatchObject([{ msg: NOT_WRITTEN }]);
    expect(await scenario.isUp('local')).toBe(0);

    await lab.proxies.local.clear();
    // So that there is something to write, even if the changes have undone each other.
    await scenario.tamper();
    expect(await scenario.outcome()).toEqual(unharmed);
    await program.logged('local writes recovered');
  });

  it('accepted, and their answers are lost, the mirrors become right', async ({ lab }) => {
    const scenario = await lab.begin();
    await strikeWrites(lab, scenario, { kind: 'truncate', after: 0, by: 'reset' });
    await scenario.settled();
    await lab.proxies.local.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
  });

  it('refused with 429, they are retried no sooner than it says', async ({ lab }) => {
    const scenario = await lab.begin();
    await strikeWrites(lab, scenario, { kind: 'answer', status: 429, retryAfterSeconds: 1 });
    const pausesMs = () => pausesOf(struck(lab.proxies.local));
    await scenario.changeUntil(() => pausesMs().length > 0);
    // A timer may fire a millisecond early.
    expect(pausesMs().filter((ms) => ms < 999)).toEqual([]);
    await lab.proxies.local.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
  });

  it('refused with 409, they are decided again, without a warning', async ({ lab }) => {
    const scenario = await lab.begin({ flags: { 'log-level': 'debug' } });
    await strikeWrites(lab, scenario, { kind: 'answer', status: 409 });
    await lab.proxies.local.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
    await scenario.program.logged(NOT_WRITTEN, { level: 'debug' });
    expect(scenario.program.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
