import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sleep } from './sleep.ts';

describe('sleep', () => {
  it.each([2 ** 31, 2 ** 40, Infinity])(
    'of %d ms, which is more than a timer can wait, does not end at once',
    async (ms) => {
      const aborter = new AbortController();
      const asleep = sleep(ms, { signal: aborter.signal }).then(() => 'woke');
      // A timer that overflows fires after a millisecond.
      expect(await Promise.race([asleep, delay(10).then(() => 'sleeps')])).toBe('sleeps');
      aborter.abort();
      expect(await asleep).toBe('woke');
    },
  );
});
