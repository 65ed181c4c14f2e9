import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESTART_SPREAD_MS, restartDelayMs } from './restart-delay.ts';
import { key, observedPeer } from '../../test/support/builders.ts';

const standing = { peers: [observedPeer(key(1))] };

describe('restartDelayMs', () => {
  it('spreads agents whose tunnels stand over five seconds, evenly', () => {
    const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(share, (random) => {
        expect(restartDelayMs(standing, { isRestart: true, random: () => random })).toBe(random * RESTART_SPREAD_MS);
      }),
    );
  });

  it('is another for each agent', () => {
    const delays = Array.from({ length: 1_000 }, () => restartDelayMs(standing, { isRestart: true }));
    expect(delays.filter((ms) => ms < 0 || ms >= RESTART_SPREAD_MS)).toEqual([]);
    // A fifth of them in each second, give or take more than chance ever does.
    for (const second of [0, 1, 2, 3, 4])
      expect(delays.filter((ms) => Math.floor(ms / 1_000) === second).length).toBeGreaterThan(120);
  });

  it.each([
    { name: 'a first start, without a device', device: undefined, isRestart: true },
    { name: 'a device without a tunnel', device: { peers: [] }, isRestart: true },
    { name: 'a look that changes nothing', device: standing, isRestart: false },
  ])('lets $name wait for nobody', ({ device, isRestart }) => {
    expect(restartDelayMs(device, { isRestart, random: () => 0.999 })).toBe(0);
  });
});
