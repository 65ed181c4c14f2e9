import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RemoteWrites, type RemoteWritesError } from './remote-writes.ts';

const log = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function writesOf(perSecond: number, { objects = 0 } = {}) {
  const over = new Map<string, number>();
  const remoteOverBudget = {
    set: ({ remote, budget }: { remote: string; budget: string }, value: number) =>
      void over.set(`${remote} ${budget}`, value),
  };
  const writes = new RemoteWrites({
    objectsOf: () => objects,
    perSecond,
    log,
    metrics: { remoteOverBudget } as never,
  });
  for (const remote of ['c2', 'c3']) writes.begin(remote);
  /** Attempts a write of each of `count` keys. @returns how many don't wait */
  const spend = (remote: string, count: number, isDeletion = false): number => {
    let spent = 0;
    for (let i = 0; i < count; i++) {
      try {
        writes.spend(remote, { key: String(i), isDeletion });
        spent++;
      } catch (error) {
        if ((error as { code?: string }).code !== 'REMOTE_WRITES_WAIT') throw error;
      }
    }
    return spent;
  };
  return { writes, over, spend };
}

describe('RemoteWrites', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('admits a first sync, and then the rate', () => {
    const { spend } = writesOf(20);
    expect(spend('c2', 30_000)).toBe(20_000);
    vi.advanceTimersByTime(10_000);
    expect(spend('c2', 30_000)).toBe(200);
    vi.advanceTimersByTime(3_600_000);
    expect(spend('c2', 30_000)).toBe(1_000);
  });

  it('admits a change of all objects of a quiet remote at once', () => {
    const { spend } = writesOf(20, { objects: 8_000 });
    spend('c2', 30_000);
    vi.advanceTimersByTime(3_600_000);
    expect(spend('c2', 30_000)).toBe(8_000);
  });

  it('delays neither another remote nor a deletion', () => {
    const { spend, over } = writesOf(1);
    spend('c2', 2_000);
    expect(spend('c2', 100, true)).toBe(100);
    expect(spend('c3', 100)).toBe(100);
    expect([...over]).toEqual([
      ['c2 writes', 1],
      ['c3 writes', 0],
    ]);
  });

  it('gives a key its turn, however often others that wait try again', () => {
    const { writes, spend } = writesOf(20);
    spend('c2', 20_100);
    const tries = (): number => {
      try {
        writes.spend('c2', { key: 'late', isDeletion: false });
        return 0;
      } catch (error) {
        return (error as RemoteWritesError).retryAfterMs;
      }
    };
    const waitMs = tries();
    expect(waitMs).toBe(5_050);
    for (let round = 0; round < 50; round++) {
      vi.advanceTimersByTime(101);
      spend('c2', 20_100);
    }
    expect(tries()).toBe(0);
  });

  it('has each key that waits spend once, and no turn that it missed for a minute', () => {
    const { spend } = writesOf(1);
    spend('c2', 1_002);
    vi.advanceTimersByTime(2_000);
    expect(spend('c2', 1_002)).toBe(2);
    vi.advanceTimersByTime(3_600_000);
    expect(spend('c2', 2_000)).toBe(50);
  });

  it('gives turns that are withdrawn to others', () => {
    const { writes, spend } = writesOf(20);
    spend('c2', 20_000);
    const errorOf = (key: string): RemoteWritesError => {
      try {
        writes.spend('c2', { key, isDeletion: false });
      } catch (error) {
        return error as RemoteWritesError;
      }
      throw new Error(`${key} doesn't wait`);
    };
    const errors = Array.from({ length: 50_000 }, (_, i) => errorOf(`short-lived ${i}`));
    for (const error of errors) {
      error.withdraw();
      // It has no turn any more.
      error.withdraw();
    }
    expect(errorOf('another').retryAfterMs).toBe(50);
  });

  it('counts deletions', () => {
    const { spend } = writesOf(1);
    spend('c2', 1_000, true);
    expect(spend('c2', 1)).toBe(0);
  });

  it('reports that a remote is over its budget until a minute after the last write that had to wait', () => {
    const { spend, over } = writesOf(1);
    spend('c2', 1_001);
    vi.advanceTimersByTime(59_000);
    spend('c2', 100);
    vi.advanceTimersByTime(59_000);
    expect(over.get('c2 writes')).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(over.get('c2 writes')).toBe(0);
  });

  it('forgets a remote that left the config, which begins anew if it returns', () => {
    const { writes, spend, over } = writesOf(1);
    spend('c2', 1_001);
    over.delete('c2 writes');
    writes.end('c2');
    expect([vi.getTimerCount(), writes.has('c2'), spend('c2', 100), over.has('c2 writes')]).toEqual([
      0,
      false,
      100,
      false,
    ]);
    writes.begin('c2');
    expect([spend('c2', 2_000), over.get('c2 writes')]).toEqual([1_000, 1]);
  });
});
