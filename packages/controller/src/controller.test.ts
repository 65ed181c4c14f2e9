import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Controller, type ControllerOptions } from './controller.ts';

describe('Controller', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('reconciles at once after each of five events, and then once per interval', async () => {
    const at: number[] = [];
    const { controller, stop } = start({ reconcile: async () => (at.push(performance.now()), { wrote: true }) });
    const began = performance.now();
    for (let event = 0; event < 1000; event++) {
      controller.enqueue('set');
      await vi.advanceTimersByTimeAsync(5);
    }
    expect(at.slice(0, 5).map((ms) => ms - began)).toEqual([0, 5, 10, 15, 20]);
    // 1,000 events within 5 s: five writes, then one per 200 ms.
    expect(at.filter((ms) => ms - began <= 5000).length).toBeLessThanOrEqual(31);
    for (let index = 6; index < at.length; index++) expect(at[index]! - at[index - 1]!).toBeGreaterThanOrEqual(200);
    await stop();
  });

  it('does not delay a key without a write', async () => {
    let runs = 0;
    const { controller, stop } = start({ reconcile: async () => (runs++, { wrote: false }) });
    for (let event = 0; event < 3; event++) {
      controller.enqueue('set');
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(runs).toBe(3);
    await stop();
  });

  it('never works on one key twice at a time, and works on different keys in parallel', async () => {
    const running: string[] = [];
    let most = 0;
    const { controller, stop } = start({
      reconcile: async (key) => {
        expect(running).not.toContain(key);
        running.push(key);
        most = Math.max(most, running.length);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running.splice(running.indexOf(key), 1);
        controller.enqueue(key);
        return { wrote: false };
      },
    });
    for (const key of ['a', 'b', 'c', 'd', 'e']) controller.enqueue(key);
    await vi.advanceTimersByTimeAsync(100);
    expect(most).toBe(3);
    const stopped = stop();
    await vi.advanceTimersByTimeAsync(10);
    await stopped;
  });

  it('gives way to the event loop while many keys need no write', async () => {
    vi.useRealTimers();
    let ms = 0;
    const runsOfTurns = [0];
    const { controller, stop } = start({
      now: () => ms,
      reconcile: async () => {
        runsOfTurns[runsOfTurns.length - 1]!++;
        ms += 1.5;
        return { wrote: false };
      },
    });
    for (let key = 0; key < 100; key++) controller.enqueue(`set ${key}`);
    while (ms < 150) {
      await new Promise((resolve) => setImmediate(resolve));
      runsOfTurns.push(0);
    }
    expect(Math.max(...runsOfTurns)).toBe(2);
    await stop();
  });

  it('retries a failed key, later each time, with the time of its oldest event', async () => {
    const since: (number | undefined)[] = [];
    const { controller, failures, stop } = start({
      reconcile: async (_, context) => {
        since.push(context.since);
        if (since.length < 4) throw new Error('refused');
        return { wrote: true };
      },
    });
    controller.enqueue('set', 42);
    await vi.advanceTimersByTimeAsync(1000);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([50, 100, 200]);
    expect(since).toEqual([42, 42, 42, 42]);
    await stop();
  });

  it('waits as long as the server asks', async () => {
    let runs = 0;
    const { controller, failures, stop } = start({
      reconcile: async () => {
        if (runs++ === 0) throw Object.assign(new Error('slow down'), { retryAfterMs: 7000 });
        return { wrote: true };
      },
    });
    controller.enqueue('set');
    await vi.advanceTimersByTimeAsync(6900);
    controller.enqueue('set');
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(runs).toBe(2);
    expect(failures).toHaveLength(1);
    await stop();
  });

  it('ends when its running reconciles have returned, without a timer', async () => {
    let finish = () => {};
    const { controller, abort, done } = start({
      reconcile: async (_, { signal }) => {
        await new Promise<void>((resolve) => (finish = resolve));
        signal.throwIfAborted();
        return { wrote: true };
      },
    });
    controller.enqueue('set');
    await vi.advanceTimersByTimeAsync(30);
    expect(controller.longestRunningMs).toBe(30);
    abort();
    finish();
    await done;
    expect(controller.longestRunningMs).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('calls its observer as keys come and go', async () => {
    const seen: string[] = [];
    let failures = 1;
    const { controller, stop } = start({
      reconcile: () => (failures-- > 0 ? Promise.reject(new Error('once')) : Promise.resolve({ wrote: false })),
      observer: {
        added: (key) => seen.push(`${key} added`),
        started: (key) => seen.push(`${key} started`),
        ended: (key, { failed }) => seen.push(`${key} ${failed ? 'failed' : 'done'}`),
      },
    });
    controller.enqueue('set');
    // Already waits.
    controller.enqueue('set');
    await vi.advanceTimersByTimeAsync(10_000);
    await stop();
    expect(seen).toEqual(['set added', 'set started', 'set added', 'set failed', 'set started', 'set done']);
  });
});

function start(options: Pick<ControllerOptions, 'reconcile' | 'observer' | 'now'>) {
  const failures: { key: string; retryInMs: number }[] = [];
  const controller = new Controller({
    workers: 3,
    minWriteIntervalMs: 200,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  const aborter = new AbortController();
  const done = controller.run({ signal: aborter.signal });
  const abort = () => aborter.abort();
  return { controller, failures, abort, done, stop: () => (abort(), done) };
}
