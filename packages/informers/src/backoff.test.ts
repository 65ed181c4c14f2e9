import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

describe('backoffMs', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('lies between 20 ms and the maximum, for any number of failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), random, (failures, fraction) => {
        const ms = backoffMs(failures, { baseMs: 500, maxMs: 30_000, random: () => fraction });
        expect(ms).toBeGreaterThanOrEqual(20);
        expect(ms).toBeLessThanOrEqual(30_000);
      }),
    );
  });

  it('doubles its ceiling with each failure', () => {
    const ceilings = [1, 2, 3, 7].map((failures) =>
      backoffMs(failures, { baseMs: 500, maxMs: 30_000, random: () => 0.5 }),
    );
    expect(ceilings).toEqual([500, 1000, 2000, 15_000]);
  });

  it('is at least what the server requested, and differs between its clients', () => {
    fc.assert(
      fc.property(random, (fraction) => {
        const ms = backoffMs(1, { baseMs: 500, maxMs: 30_000, random: () => fraction }, 60_000);
        expect(ms).toBeGreaterThanOrEqual(60_000);
        expect(ms).toBeLessThanOrEqual(66_000);
      }),
    );
  });
});
