import { expect, it } from 'vitest';
import { pollUntil } from './poll.ts';

it('polls until the answer is positive, and returns its time', async () => {
  let asked = 0;
  const before = performance.now();
  const atMs = await pollUntil(() => Promise.resolve(++asked === 3), {
    intervalMs: 1,
    signal: new AbortController().signal,
  });
  expect(asked).toBe(3);
  expect(atMs).toBeGreaterThan(before);
});

it('ends with its signal', async () => {
  const reason = new Error('the program ended');
  const polling = pollUntil(() => Promise.resolve(false), { intervalMs: 1, signal: AbortSignal.abort(reason) });
  await expect(polling).rejects.toBe(reason);
});
