import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Workqueue } from './workqueue.ts';

describe('Workqueue', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => {
    const left = vi.getTimerCount();
    vi.useRealTimers();
    if (left > 0) throw new Error(`${left} timers are left`);
  });

  it('gives a key once however often it is added, with the time of the oldest event', async () => {
    const queue = new Workqueue();
    queue.add('a', 30);
    queue.add('a', 10);
    queue.add('a', 20);
    expect(queue.depth).toBe(1);
    expect(await queue.take()).toEqual({ key: 'a', since: 10 });
    expect(queue.depth).toBe(0);
  });

  it('gives a key without a time unless an event asks for it', async () => {
    const queue = new Workqueue();
    queue.add('a');
    queue.add('b');
    queue.add('b', 20);
    queue.add('b');
    expect(queue.depth).toBe(2);
    expect(await queue.take()).toEqual({ key: 'a', since: undefined });
    expect(await queue.take()).toEqual({ key: 'b', since: 20 });
  });

  it('gives keys in the order in which they came', async () => {
    const queue = new Workqueue();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, 0);
    const taken = [];
    for (let count = 0; count < 4; count++) taken.push((await queue.take())?.key);
    expect(taken).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives a key of each cause in turn, however many keys another one added before', async () => {
    const queue = new Workqueue();
    const add = (cause: string, ...keys: string[]) => {
      for (const key of keys) queue.add(key, 0, { cause });
    };
    add('c1', 'a', 'b', 'c', 'd');
    add('c2', 'x', 'c');
    add('c3', 'y');
    const taken = [];
    for (let count = 0; count < 6; count++) taken.push((await queue.take())?.key);
    // Of a key that two causes added, the first turn counts.
    expect(taken).toEqual(['a', 'x', 'y', 'b', 'c', 'd']);
    expect(queue.depth).toBe(0);
    expect(await settled(queue.take())).toBe(false);
    queue.close();
  });

  it('gives a key once whose second cause comes while it has a worker, or is delayed', async () => {
    const queue = new Workqueue();
    queue.add('a', 1, { cause: 'c1' });
    queue.add('a', 1, { cause: 'c2' });
    await queue.take();
    queue.add('a', 2, { cause: 'c2' });
    const next = queue.take();
    expect(await settled(next)).toBe(false);
    queue.done('a', { delayMs: 200 });
    queue.add('a', 3, { cause: 'c3' });
    expect(await settled(next)).toBe(false);
    await vi.advanceTimersByTimeAsync(201);
    expect(await next).toEqual({ key: 'a', since: 2 });
    expect(await settled(queue.take())).toBe(false);
    queue.close();
  });

  it('gives no key that has a worker, and gives it once more if it is added meanwhile', async () => {
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

  it('ends a delay and a backoff for an urgent event only', async () => {
    const queue = new Workqueue();
    queue.add('a');
    await queue.take();
    queue.add('a', 1, { isUrgent: true });
    queue.done('a', { delayMs: 200 });
    expect(await queue.take()).toEqual({ key: 'a', since: 1 });
    queue.done('a', { delayMs: 200 });
    queue.add('a', 3);
    const next = queue.take();
    expect(await settled(next)).toBe(false);
    expect(queue.add('a', 2, { isUrgent: true })).toBe(false);
    expect(await next).toEqual({ key: 'a', since: 2 });
    queue.done('a', { delayMs: 200, failed: true });
    queue.add('a', 5);
    const retry = queue.take();
    expect(await settled(retry)).toBe(false);
    queue.add('a', 4, { isUrgent: true });
    expect(await retry).toEqual({ key: 'a', since: 4 });
    expect(queue.failures('a')).toBe(1);
    queue.done('a');
  });

  it('lets a key rest whatever is added, and gives it at the end of the rest', async () => {
    const queue = new Workqueue();
    queue.add('a', 1);
    await queue.take();
    queue.done('a', { delayMs: 200 });
    queue.add('a', 2);
    const next = queue.take();
    await vi.advanceTimersByTimeAsync(199);
    expect(await settled(next)).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(await next).toEqual({ key: 'a', since: 2 });
  });

  it('forgets a key whose delay ends without work', async () => {
    const queue = new Workqueue();
    queue.add('a');
    await queue.take();
    queue.done('a', { delayMs: 200 });
    await vi.advanceTimersByTimeAsync(201);
    queue.add('a', 7);
    expect(await queue.take()).toEqual({ key: 'a', since: 7 });
  });

  it('gives a key once if it is added after its delay and before its timer', async () => {
    let time = 0;
    const queue = new Workqueue({ now: () => time });
    queue.add('a');
    await queue.take();
    queue.done('a', { delayMs: 200 });
    // A process that was busy or stopped runs its timers late.
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

  it('gives other keys while one is delayed', async () => {
    const queue = new Workqueue();
    queue.add('a');
    await queue.take();
    queue.done('a', { delayMs: 200 });
    queue.add('a');
    queue.add('b', 5);
    expect(await queue.take()).toEqual({ key: 'b', since: 5 });
    queue.close();
  });

  it('counts failures in a row, until a success', async () => {
    const queue = new Workqueue();
    for (const want of [1, 2]) {
      queue.add('a');
      const next = queue.take();
      await vi.advanceTimersByTimeAsync(11);
      await next;
      queue.add('a');
      queue.done('a', { failed: true, delayMs: 10 });
      expect(queue.failures('a')).toBe(want);
    }
    const next = queue.take();
    await vi.advanceTimersByTimeAsync(11);
    await next;
    queue.done('a');
    expect(queue.failures('a')).toBe(0);
  });

  it('ends a wait without a key when it is closed', async () => {
    const queue = new Workqueue();
    const waiting = [queue.take(), queue.take()];
    queue.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    queue.add('a');
    expect(await queue.take()).toBeUndefined();
  });
});

/** Whether a promise is settled after all pending callbacks. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await vi.advanceTimersByTimeAsync(0);
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}
