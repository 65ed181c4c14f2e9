import { describe } from 'vitest';
import { restartsOf } from '../support/remote-state.ts';
import type { Trial } from '../support/trial.ts';
import { it } from '../support/under-faults.ts';

const soon = { 'watch-idle-timeout': '1s' };

/** Changes pods until a silent watch was opened again twice from now on. */
async function changePodsUntilNoticed(trial: Trial, cluster: string): Promise<void> {
  const before = await restartsOf(trial.policy, 'idle', cluster);
  await trial.changePodsUntil(async () => (await restartsOf(trial.policy, 'idle', cluster)) >= before + 2);
}

describe('a connection that is half open', () => {
  it.for([
    { side: 'remote', cluster: 'c2' },
    { side: 'local', cluster: 'local' },
  ] as const)('to the $side API server is given up, with what was on its way', async ({ side, cluster }, fixtures) => {
    const { begin, viaProxies, remoteProxy, localProxy } = fixtures;
    const proxy = side === 'remote' ? remoteProxy : localProxy;
    const trial = await begin({ ...viaProxies, ...soon });
    await proxy.set({ kind: 'stall' });
    await changePodsUntilNoticed(trial, cluster);
    // Nothing of what was held back arrives.
    await proxy.set({ kind: 'reset', connections: 'open' });
    await proxy.clear();
    await trial.survived();
  });

  it('to both is given up, and what was on its way arrives late', async ({ begin, viaProxies, remoteProxy, localProxy }) => {
    const trial = await begin({ ...viaProxies, ...soon });
    await Promise.all([remoteProxy.set({ kind: 'stall' }), localProxy.set({ kind: 'stall' })]);
    await Promise.all([changePodsUntilNoticed(trial, 'c2'), changePodsUntilNoticed(trial, 'local')]);
    await Promise.all([remoteProxy.clear(), localProxy.clear()]);
    await trial.survived();
  });

  it('hides what somebody does to a set until it is given up', async ({ begin, viaProxies, localProxy, sets }) => {
    const trial = await begin({ ...viaProxies, ...soon });
    await localProxy.set({ kind: 'stall' }, { verb: 'watch' });
    await sets.patch('c2-default-cart', { spec: { nets: ['10.4.0.3/32', '192.0.2.1/32'] } });
    await changePodsUntilNoticed(trial, 'local');
    await localProxy.clear();
    await trial.survived();
  });
});
