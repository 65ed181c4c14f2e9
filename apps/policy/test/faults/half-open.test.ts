import { describe } from 'vitest';
import { restartsOf } from '../support/remote-state.ts';
import type { Trial } from '../support/trial.ts';
import { it, sides } from '../support/under-faults.ts';

const soon = { 'watch-idle-timeout': '1s' };

/** Changes pods until a silent watch was opened again twice from now on. */
async function changePodsUntilNoticed(trial: Trial, cluster: string): Promise<void> {
  const before = await restartsOf(trial.policy, 'idle', cluster);
  await trial.changePodsUntil(async () => (await restartsOf(trial.policy, 'idle', cluster)) >= before + 2);
}

describe('a connection that is half open', () => {
  it.for(sides)(
    'to the $side API server is given up, with all that was on its way',
    async ({ side, cluster }, { begin, viaProxies, proxies }) => {
      const trial = await begin({ ...viaProxies, ...soon });
      await proxies[side].set({ kind: 'stall' });
      await changePodsUntilNoticed(trial, cluster);
      // Nothing of what was held back arrives.
      await proxies[side].set({ kind: 'reset', connections: 'open' });
      await proxies[side].clear();
      await trial.survived();
    },
  );

  it('to both is given up, and what was on its way arrives late', async ({ begin, viaProxies, proxies }) => {
    const trial = await begin({ ...viaProxies, ...soon });
    await Promise.all([proxies.remote.set({ kind: 'stall' }), proxies.local.set({ kind: 'stall' })]);
    await Promise.all([changePodsUntilNoticed(trial, 'c2'), changePodsUntilNoticed(trial, 'local')]);
    await Promise.all([proxies.remote.clear(), proxies.local.clear()]);
    await trial.survived();
  });

  it('hides what somebody does to a set until it is given up', async ({ begin, viaProxies, proxies, sets }) => {
    const trial = await begin({ ...viaProxies, ...soon });
    await proxies.local.set({ kind: 'stall' }, { verb: 'watch' });
    await sets.patch('c2-default-cart', { spec: { nets: ['10.4.0.3/32', '192.0.2.1/32'] } });
    await changePodsUntilNoticed(trial, 'local');
    await proxies.local.clear();
    await trial.survived();
  });
});
