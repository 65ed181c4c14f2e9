import { expect, it } from 'vitest';
import { Limiter } from './limiter.ts';

it('runs at most so many calls at once, in the order in which they came', async () => {
  const limiter = new Limiter(2);
  const started: number[] = [];
  let running = 0;
  const calls = Array.from({ length: 6 }, (_, index) =>
    limiter.run(async () => {
      started.push(index);
      expect(++running).toBeLessThanOrEqual(2);
      await Promise.resolve();
      running--;
      return index;
    }),
  );
  expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
});

it('frees the place of a call that failed', async () => {
  const limiter = new Limiter(1);
  await expect(limiter.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await limiter.run(async () => 'next')).toBe('next');
});
