import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESTART_SPREAD_MS, restartDelayMs } from './restart-delay.ts';
import { key, observedPeer } from '../../../test/support/builders.ts';

const withTunnel = { peers: [observedPeer(key(1))] };

describe('restartDelayMs', () => {
  it('spreads agents with tunnels evenly over five seconds', () => {
    const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(share, (random) => {
        expect(restartDelayMs(withTunnel, { isRestart: true, random: () => random })).toBe(random * RESTART_SPREAD_MS);
      }),
    );
  });

  it('differs for each agent', () => {
    const delays = Array.from({ length: 1_000 }, () => restartDelayMs(withTunnel, { isRestart: true }));
    expect(delays.filter((ms) => ms < 0 || ms >= RESTART_SPREAD_MS)).toEqual([]);
    // About a fifth of them in each second; 120 is far below what chance allows.
    for (const second of [0, 1, 2, 3, 4])
      expect(delays.filter((ms) => Math.floor(ms / 1_000) === second).length).toBeGreaterThan(120);
  });

  it.each([
    { name: 'a first start, without a device', device: undefined, isRestart: true },
    { name: 'a device without a tunnel', device: { peers: [] }, isRestart: true },
    { name: 'a run that changes nothing', device: withTunnel, isRestart: false },
  ])('is 0 for $name', ({ device, isRestart }) => {
    expect(restartDelayMs(device, { isRestart, random: () => 0.999 })).toBe(0);
  });
});
