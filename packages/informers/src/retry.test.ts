import { describe, expect, it } from 'vitest';
import { Retry } from './retry.ts';

function retryAt() {
  const clock = { ms: 0 };
  const retry = new Retry({ random: () => 0.5, now: () => clock.ms });
  return { clock, retry };
}

describe('Retry', () => {
  it('waits longer after each failure in a row', () => {
    const { retry } = retryAt();
    expect([1, 2, 3].map(() => retry.nextDelayMs({ wasCut: true }))).toEqual([500, 1000, 2000]);
  });

  it('stays quick with a server that accepts watches and drops each one', () => {
    const { retry, clock } = retryAt();
    for (let count = 0; count < 20; count++) {
      retry.accepted();
      clock.ms += 1000;
      expect(retry.nextDelayMs({ wasCut: true })).toBeLessThanOrEqual(1000);
    }
  });

  it('forgets failures after a watch that lasted long, and after one that brought an event', () => {
    const { retry, clock } = retryAt();
    for (let count = 0; count < 5; count++) retry.nextDelayMs({ wasCut: true });
    retry.accepted();
    clock.ms += 10_001;
    expect(retry.nextDelayMs({ wasCut: true })).toBe(500);
    for (let count = 0; count < 5; count++) retry.nextDelayMs({ wasCut: true });
    retry.heard();
    expect(retry.nextDelayMs({ wasCut: true })).toBe(500);
  });
});
