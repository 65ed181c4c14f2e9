import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Workqueue } from './workqueue.ts';

describe('Workqueue', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => {
    const left = vi.getTimerCount();
    vi.useRealTimers();
    if (left > 0) throw new Error(`${left} timers are left`);
  });

  it('hands a key out once however often it was added, with the time of the oldest event', async () => {
    const queue = new Workqueue();
    queue.add('a', 30);
    queue.add('a', 10);
    queue.add('a', 20);
    expect(queue.depth).toBe(1);
    expect(await queue.take()).toEqual({ key: 'a', since: 10 });
    expect(queue.depth).toBe(0);
  });

  it('hands out a key without a time if no event asks for it, and with one as soon as an event does', async () => {
    const queue = new Workqueue();
    queue.add('a');
    queue.add('b');
    queue.add('b', 20);
    queue.add('b');
    expect(queue.depth).toBe(2);
    expect(await queue.take()).toEqual({ key: 'a', since: undefined });
    expect(await queue.take()).toEqual({ key: 'b', since: 20 });
  });

  it('hands keys out in the order in which they came', async () => {
    const queue = new Workqueue();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, 0);
    const taken = [];
    for (let count = 0; count < 4; count++) taken.push((await queue.take())?.key);
    expect(taken).toEqual(['a', 'b', 'c', 'd']);
  });

  it('hands out no key that is worked, and hands it out once more if it was added meanwhile', async () => {
    const queue = new Workqueue();
    queue.add('a', 1);
    await queue.take();
    queue.add('a', 2);
    queue.add('a', 3);
    const next = queue.take();
    expect(await settled(next)).toBe(false);
    queue.done('a');
    expect(await next).toEqual({ key: 'a', since: 2 });
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('lets a key rest, whatever is added, and hands it out at the end of the rest', async () => {
    const queue = new Workqueue();
    queue.add('a', 1);
    await queue.take();
    queue.done('a', { restMs: 200 });
    queue.add('a', 2);
    const next = queue.take();
    await vi.advanceTimersByTimeAsync(199);
    expect(await settled(next)).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(await next).toEqual({ key: 'a', since: 2 });
  });

  it('lets a rest end without work, and then knows nothing of the key', async () => {
    const queue = new Workqueue();
    queue.add('a');
    await queue.take();
    queue.done('a', { restMs: 200 });
    await vi.advanceTimersByTimeAsync(201);
    queue.add('a', 7);
    expect(await queue.take()).toEqual({ key: 'a', since: 7 });
  });

  it('hands a key out once that came when its rest was over, and before the timer said so', async () => {
    let time = 0;
    const queue = new Workqueue({ now: () => time });
    queue.add('a');
    await queue.take();
    queue.done('a', { restMs: 200 });
    // A process that did something else for long, or was stopped, runs its timers late.
    time = 250;
    queue.add('a', 240);
    await vi.advanceTimersByTimeAsync(201);
    expect(await queue.take()).toEqual({ key: 'a', since: 240 });
    const next = queue.take();
    expect(await settled(next)).toBe(false);
    queue.done('a');
    expect(await settled(next)).toBe(false);
    queue.close();
  });

  it('lets other keys pass while one rests', async () => {
    const queue = new Workqueue();
    queue.add('a');
    await queue.take();
    queue.done('a', { restMs: 200 });
    queue.add('a');
    queue.add('b', 5);
    expect(await queue.take()).toEqual({ key: 'b', since: 5 });
    queue.close();
  });

  it('counts failures in a row, and forgets them after a success', async () => {
    const queue = new Workqueue();
    for (const want of [1, 2]) {
      queue.add('a');
      const next = queue.take();
      await vi.advanceTimersByTimeAsync(11);
      await next;
      queue.add('a');
      queue.done('a', { failed: true, restMs: 10 });
      expect(queue.failures('a')).toBe(want);
    }
    const next = queue.take();
    await vi.advanceTimersByTimeAsync(11);
    await next;
    queue.done('a');
    expect(queue.failures('a')).toBe(0);
  });

  it('wakes who waits when it is closed, with nothing', async () => {
    const queue = new Workqueue();
    const waiting = [queue.take(), queue.take()];
    queue.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    queue.add('a');
    expect(await queue.take()).toBeUndefined();
  });
});

/** Whether a promise is settled once everything that could run has run. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await vi.advanceTimersByTimeAsync(0);
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}
