import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from './pace.ts';

const INTERVAL_MS = 200;
const BURST = 5;

function start() {
  const clock = { ms: 0 };
  return { clock, pace: new Pace({ burst: BURST, intervalMs: INTERVAL_MS, now: () => clock.ms }) };
}

describe('Pace', () => {
  it('lets a key write five times at once, and then once per interval', () => {
    const { clock, pace } = start();
    const delays = Array.from({ length: 6 }, () => pace.wrote('set'));
    expect(delays).toEqual([0, 0, 0, 0, 200, 400]);
    clock.ms = 400;
    expect(pace.wrote('set')).toBe(200);
  });

  it('refills one write per interval, up to five', () => {
    const { clock, pace } = start();
    for (let i = 0; i < BURST; i++) pace.wrote('set');
    clock.ms = 2 * INTERVAL_MS;
    expect([pace.wrote('set'), pace.wrote('set')]).toEqual([0, 200]);
    clock.ms = 100 * INTERVAL_MS;
    expect(Array.from({ length: 5 }, () => pace.wrote('set'))).toEqual([0, 0, 0, 0, 200]);
  });

  it('paces each key alone', () => {
    const { pace } = start();
    for (let i = 0; i < BURST; i++) pace.wrote('set');
    expect(pace.wrote('other')).toBe(0);
  });

  it('forgets keys whose bucket is full', () => {
    const { clock, pace } = start();
    for (let i = 0; i < 1_000; i++) pace.wrote(`set-${i}`);
    expect(pace.size).toBe(1_000);
    clock.ms = INTERVAL_MS;
    pace.wrote('another');
    expect(pace.size).toBe(1);
  });

  it('keeps any number of changes within the burst and the rate', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 300 }), (pauses) => {
        const { clock, pace } = start();
        const writes: number[] = [];
        let notBefore = 0;
        for (const pause of pauses) {
          // A change that comes during a delay is written at its end.
          clock.ms = Math.max(clock.ms + pause, notBefore);
          writes.push(clock.ms);
          notBefore = clock.ms + pace.wrote('set');
        }
        writes.forEach((from, i) => {
          for (let j = i; j < writes.length; j++)
            expect(j - i + 1).toBeLessThanOrEqual(BURST + (writes[j]! - from) / INTERVAL_MS);
        });
      }),
    ));
});
