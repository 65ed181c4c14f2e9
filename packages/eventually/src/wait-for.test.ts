import { expect, it } from 'vitest';
import { waitFor } from './wait-for.ts';

it('returns the first answer that is not undefined', async () => {
  let calls = 0;
  const probe = () => {
    calls += 1;
    return calls < 3 ? undefined : calls;
  };
  expect(await waitFor('a third call', probe, { intervalMs: 1 })).toBe(3);
});

it('takes null and false for answers', async () => {
  expect(await waitFor('null', () => null)).toBeNull();
  expect(await waitFor('false', () => Promise.resolve(false))).toBe(false);
});

it('says what it waited for when time is up', async () => {
  const waiting = waitFor('the end of days', () => undefined, { timeoutMs: 5, intervalMs: 1 });
  await expect(waiting).rejects.toThrow('waited 5 ms in vain: the end of days');
});

it('passes on what the probe throws', async () => {
  await expect(waitFor('nothing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
