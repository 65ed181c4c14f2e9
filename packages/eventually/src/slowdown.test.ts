import { afterEach, describe, expect, it, vi } from 'vitest';
import { measureSlowdown, scaled, SLOWDOWN, slowdownOf } from './slowdown.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('slowdownOf', () => {
  it.each([
    { name: 'is 1 on the reference machine', elapsedMs: 400, expected: 1 },
    { name: 'is 1 on a faster machine', elapsedMs: 50, expected: 1 },
    { name: 'grows with the time', elapsedMs: 1_380, expected: 3.5 },
    { name: 'is at most 10', elapsedMs: 60_000, expected: 10 },
  ])('$name', ({ elapsedMs, expected }) => {
    expect(slowdownOf(elapsedMs)).toBe(expected);
  });
});

describe('measureSlowdown', () => {
  it('measures this machine', async () => {
    const slowdown = await measureSlowdown();
    expect(slowdown).toBeGreaterThanOrEqual(1);
    expect(slowdown).toBeLessThanOrEqual(10);
  });
});

describe('scaled', () => {
  it('multiplies by the slowdown of the test run', () => {
    vi.stubEnv(SLOWDOWN, '2.5');
    expect(scaled(100)).toBe(250);
  });

  it('changes nothing outside a test run', () => {
    vi.stubEnv(SLOWDOWN, undefined);
    expect(scaled(100)).toBe(100);
  });
});
