import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortable, singleFlight } from './rotating.ts';

describe('abortable', () => {
  it('leaves no listener behind, whether the work succeeds or fails', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve('done'), signal)).toBe('done');
    await expect(abortable(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of a signal that is aborted, before or meanwhile', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort(new Error('shutdown'));
    await expect(waiting).rejects.toThrow('shutdown');
    await expect(abortable(Promise.resolve('done'), controller.signal)).rejects.toThrow('shutdown');
  });

  it('handles the failure of work that it no longer waits for', async () => {
    const work = Promise.reject(new Error('failed'));
    await expect(abortable(work, AbortSignal.abort(new Error('shutdown')))).rejects.toThrow('shutdown');
  });
});

describe('singleFlight', () => {
  it('shares one run, and begins another after that', async () => {
    let runs = 0;
    const next = singleFlight(async () => ++runs);
    expect(await Promise.all([next(), next()])).toEqual([1, 1]);
    expect(await next()).toBe(2);
  });

  it('shares a failure, and tries again', async () => {
    let runs = 0;
    const next = singleFlight(async () => {
      if (++runs === 1) throw new Error('once');
      return runs;
    });
    expect((await Promise.allSettled([next(), next()])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await next()).toBe(2);
  });
});
