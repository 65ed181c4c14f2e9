import { expect, it } from 'vitest';
import { Limiter } from './limiter.ts';

it('runs at most the limit of calls at once, in their order', async () => {
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

it('frees the place of a failed call', async () => {
  const limiter = new Limiter(1);
  await expect(limiter.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await limiter.run(async () => 'next')).toBe('next');
});
