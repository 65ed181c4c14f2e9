import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

/** A bucket and its clock. */
function bucketAt(options: { initial: number; burst: number; perSecond: number }) {
  const clock = { ms: 0 };
  return { clock, bucket: new TokenBucket({ ...options, burst: () => options.burst, now: () => clock.ms }) };
}

/** Takes all tokens. @returns their number */
function takeAll(bucket: TokenBucket): number {
  let taken = 0;
  while (bucket.take()) taken++;
  return taken;
}

const limits = fc.record({
  initial: fc.integer({ min: 0, max: 200 }),
  burst: fc.integer({ min: 1, max: 100 }),
  perSecond: fc.integer({ min: 1, max: 50 }),
});

describe('TokenBucket', () => {
  it('gives at most the burst and the refill of a period, after the initial tokens', () =>
    fc.assert(
      fc.property(limits, fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 40 }), (options, pauses) => {
        const { clock, bucket } = bucketAt(options);
        expect(takeAll(bucket)).toBe(options.initial);
        let taken = 0;
        for (const pause of pauses) {
          clock.ms += pause;
          const got = takeAll(bucket);
          expect(got).toBeLessThanOrEqual(options.burst);
          taken += got;
        }
        expect(taken).toBeLessThanOrEqual((clock.ms / 1000) * options.perSecond + 1e-6);
      }),
    ));

  it('has the token that was reserved at the time that it returned, and not before', () =>
    fc.assert(
      fc.property(limits, fc.nat(10_000), fc.integer({ min: 1, max: 20 }), (options, pause, reserved) => {
        const { clock, bucket } = bucketAt(options);
        takeAll(bucket);
        clock.ms += pause;
        takeAll(bucket);
        const waits = Array.from({ length: reserved }, () => bucket.reserve());
        expect(waits).toEqual(waits.toSorted((a, b) => a - b));
        expect(waits.at(-1)).toBeGreaterThan(((reserved - 1) / options.perSecond) * 1000);
        clock.ms += waits.at(-1)!;
        expect(bucket.take()).toBe(false);
        clock.ms += Math.ceil(1000 / options.perSecond);
        expect(bucket.take()).toBe(true);
      }),
      // The rounding error of a wait.
      { examples: [[{ initial: 0, burst: 1, perSecond: 10 }, 8, 1]] },
    ));

  it('reserves a token that is there without a wait', () => {
    const { bucket } = bucketAt({ initial: 2, burst: 2, perSecond: 4 });
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 250, 500]);
  });

  it('reserves what was given back', () => {
    const { bucket } = bucketAt({ initial: 0, burst: 2, perSecond: 4 });
    expect([bucket.reserve(), bucket.reserve()]).toEqual([250, 500]);
    bucket.giveBack();
    expect(bucket.reserve()).toBe(500);
  });

  it('gives the initial tokens once, and refills to the burst', () => {
    const { clock, bucket } = bucketAt({ initial: 1000, burst: 50, perSecond: 1 });
    expect(takeAll(bucket)).toBe(1000);
    clock.ms += 3_600_000;
    expect(takeAll(bucket)).toBe(50);
  });
});
