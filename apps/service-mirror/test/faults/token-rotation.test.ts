import { eventually } from '@kube-semaphore/eventually';
import { bothSides, expireToken, replaceToken, tokensOf } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itConcurrently as it } from '../support/under-faults.ts';

const unharmed = { gaps: [], errors: [], healthz: 200 };

describe('a token in a file', () => {
  it.for(bothSides)('that expires on the $side side is refused until it is replaced', async ({ side }, { lab }) => {
    const { file, first, next } = await tokensOf(lab, side, 'late');
    const kubeconfigs = { [side]: await lab.proxies[side].kubeconfig({ tokenFile: file }) };
    const scenario = await lab.begin({ kubeconfigs });
    await expireToken(lab.clusters[side], 'late', first);
    // A watch can outlive its token.
    await lab.proxies[side].set({ kind: 'reset', connections: 'open' });
    await scenario.changeUntil(() => scenario.restarted(side, { reason: 'denied', times: 2 }));
    expect(await scenario.isUp(side)).toBe(0);
    await replaceToken(file, next);
    expect(await scenario.outcome()).toEqual(unharmed);
  });

  it.for(bothSides)(
    'that is replaced on the $side side before it expires is never refused',
    async ({ side }, { lab }) => {
      const { file, first, next } = await tokensOf(lab, side, 'early');
      const kubeconfigs = { [side]: await lab.proxies[side].kubeconfig({ tokenFile: file }) };
      const scenario = await lab.begin({ kubeconfigs, flags: { 'watch-idle-timeout': '1s' } });
      await replaceToken(file, next);
      // A request reads the file, but at most once a second: the second one surely does.
      const before = await scenario.restarts(side, 'idle');
      await eventually(() => scenario.restarted(side, { reason: 'idle', times: 2, before }), true);
      await expireToken(lab.clusters[side], 'early', first);
      await lab.proxies[side].set({ kind: 'reset', connections: 'open' });
      expect(await scenario.outcome()).toEqual(unharmed);
      expect(await scenario.restarts(side, 'denied')).toBe(0);
      expect(scenario.program.stderr()).not.toMatch(/"status":401/);
    },
  );
});
