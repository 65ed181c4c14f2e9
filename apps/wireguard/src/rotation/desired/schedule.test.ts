import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect, it } from 'vitest';
import { dueMs } from './schedule.ts';

const key = { publicKey: publicKeyOf(generatePrivateKey()), writtenMs: 10_000 };
const byHand = { everyMs: 0, requestedMs: undefined, seenMs: -Infinity };

describe('a key is due', () => {
  it.each([
    { name: 'never without a period', schedule: byHand, want: Infinity },
    { name: 'when somebody asks', schedule: { ...byHand, requestedMs: 10_001 }, want: 10_001 },
    { name: 'only once for each request', schedule: { ...byHand, requestedMs: 9_999 }, want: Infinity },
  ])('$name', ({ schedule, want }) => {
    expect(dueMs(key, schedule)).toBe(want);
  });

  it('within an hour, if it is older than a new period, each at a time of its own', () => {
    const keys = Array.from({ length: 100 }, () => ({ ...key, publicKey: publicKeyOf(generatePrivateKey()) }));
    const waits = keys.map((each) => dueMs(each, { ...byHand, everyMs: 1_000, seenMs: 1e9 }) - 1e9);
    expect(waits.every((wait) => wait >= 0 && wait < 3_600_000)).toBe(true);
    expect(new Set(waits).size).toBe(100);
    expect(dueMs(key, { everyMs: 1_000, seenMs: 1e9, requestedMs: 20_000 })).toBe(20_000);
  });

  it('in the second half of the period, at a time of its own', () => {
    const keys = Array.from({ length: 100 }, () => ({ ...key, publicKey: publicKeyOf(generatePrivateKey()) }));
    const ages = keys.map((each) => dueMs(each, { ...byHand, everyMs: 1_000 }) - key.writtenMs);
    expect(ages.every((age) => age >= 500 && age < 1_000)).toBe(true);
    // By chance, one of 2^100 runs has all of them in one half.
    expect([ages.some((age) => age < 750), ages.some((age) => age >= 750)]).toEqual([true, true]);
  });
});
