import { describe, expect, it } from 'vitest';
import { atRate, inParallel } from './pace.ts';

describe('inParallel', () => {
  it('runs at most `limit` tasks at a time, and returns results in the order of the items', async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel([30, 1, 20, 5, 10], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
      running -= 1;
      return item;
    });
    expect(results).toEqual([30, 1, 20, 5, 10]);
    expect(most).toBe(2);
  });

  it('rejects with the first failure', async () => {
    await expect(inParallel([1, 2], 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

describe('atRate', () => {
  it('starts each task at its time, also if earlier ones still run', async () => {
    const times: number[] = [];
    const sleep = (atMs: number) => Promise.resolve(void times.push(atMs));
    const { promise, resolve } = Promise.withResolvers<void>();
    const results = await atRate(['a', 'b', 'c'], { perSecond: 100, sleep }, async (item) => {
      if (item === 'c') resolve();
      else await promise;
      return item.toUpperCase();
    });
    expect(results).toEqual(['A', 'B', 'C']);
    const [first = 0] = times;
    expect(times.map((atMs) => Math.round(atMs - first))).toEqual([0, 10, 20]);
  });
});
