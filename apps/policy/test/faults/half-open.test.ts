import { bothSides } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itConcurrently as it } from '../support/under-faults.ts';

/** By which a silent watch is found soon. */
const flags = { 'watch-idle-timeout': '1s' };
const unharmed = { gaps: [], errors: [], healthz: 200 };

describe('a connection that is half open', () => {
  it.for(bothSides)('to the $side API server is replaced, and its data is lost', async ({ side }, { lab }) => {
    const scenario = await lab.begin({ flags });
    await lab.proxies[side].set({ kind: 'stall' });
    await scenario.changeUntilReopened(side);
    await lab.proxies[side].set({ kind: 'reset', connections: 'open' });
    await lab.proxies[side].clear();
    expect(await scenario.outcome()).toEqual(unharmed);
  });

  it('to both is replaced, and its data arrives late', async ({ lab: { begin, proxies } }) => {
    const scenario = await begin({ flags });
    await Promise.all([proxies.remote.set({ kind: 'stall' }), proxies.local.set({ kind: 'stall' })]);
    await Promise.all([scenario.changeUntilReopened('remote'), scenario.changeUntilReopened('local')]);
    await Promise.all([proxies.remote.clear(), proxies.local.clear()]);
    expect(await scenario.outcome()).toEqual(unharmed);
  });

  it('hides the edit of a set until it is replaced', async ({ lab: { begin, proxies } }) => {
    const scenario = await begin({ flags });
    await proxies.local.set({ kind: 'stall' }, { verb: 'watch' });
    await scenario.tamper();
    await scenario.changeUntilReopened('local');
    await proxies.local.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
  });
});
