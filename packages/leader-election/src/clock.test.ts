import { getEventListeners, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { machineClock, sleep, within } from './clock.ts';

const clock = machineClock;
const HOUR_MS = 3_600_000;

describe('machineClock', () => {
  it('runs at the speed of time, in hundredths of a second', async () => {
    const outside = performance.now();
    const before = clock.now();
    await sleep(50, { signal: new AbortController().signal, clock });
    const passedMs = clock.now() - before;
    expect(passedMs).toBeGreaterThanOrEqual(39);
    expect(passedMs).toBeLessThanOrEqual(performance.now() - outside + 11);
  });

  it('does not call back after a cancel', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    clock.after(1, () => resolve('called off'))();
    clock.after(2, () => resolve('called'));
    expect(await promise).toBe('called');
  });
});

describe('sleep', () => {
  it('ends when aborted, without a listener or a timer', async () => {
    const aborter = new AbortController();
    const sleeping = sleep(HOUR_MS, { signal: aborter.signal, clock });
    aborter.abort();
    await sleeping;
    await sleep(HOUR_MS, { signal: aborter.signal, clock });
    expect(getEventListeners(aborter.signal, 'abort')).toEqual([]);
  });
});

describe('within', () => {
  const hanging = async ({ signal }: { signal: AbortSignal }) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  };

  it('aborts a call that takes too long', async () => {
    await expect(within(1, hanging, { signal: new AbortController().signal, clock })).rejects.toThrow('within 1 ms');
  });

  it('aborts a call with its signal', async () => {
    const aborter = new AbortController();
    const call = within(HOUR_MS, hanging, { signal: aborter.signal, clock });
    aborter.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});
