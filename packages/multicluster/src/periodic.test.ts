import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { eachInPeriod } from './periodic.ts';

beforeEach(() => {
  vi.useFakeTimers({ fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
});

/** The keys that were acted on since it was asked last, one list for each second that passes. */
function started({
  keys,
  atOnce,
  periodMs = 6_000,
}: {
  keys: () => readonly string[];
  atOnce: number;
  periodMs?: number;
}) {
  let acted: string[] = [];
  const ending = new AbortController();
  const ended = eachInPeriod(periodMs, keys, (key) => acted.push(key), { atOnce, signal: ending.signal });
  const seconds = async (count: number): Promise<readonly string[]> => {
    const lists: string[] = [];
    for (let second = 0; second < count; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      lists.push(acted.join(''));
      acted = [];
    }
    return lists;
  };
  return { seconds, ending, ended };
}

describe('eachInPeriod', () => {
  it.each([
    { name: 'all at its end, if they are few', keys: 'ab', atOnce: 3, want: ['', '', '', '', '', 'ab'] },
    { name: 'in groups, if they are many', keys: 'abcdefgh', atOnce: 3, want: ['', 'abc', '', 'def', '', 'gh'] },
  ])('acts on each key once in a period: $name', async ({ keys, atOnce, want }) => {
    const { seconds } = started({ keys: () => keys.split(''), atOnce });
    expect(await seconds(6)).toEqual(want);
    expect(await seconds(6)).toEqual(want);
  });

  it('acts on a key that comes later in the next period, and waits for one while there is none', async () => {
    let keys: readonly string[] = [];
    const { seconds } = started({ keys: () => keys, atOnce: 3 });
    expect(await seconds(6)).toEqual(['', '', '', '', '', '']);
    keys = ['a'];
    expect(await seconds(12)).toEqual(['', '', '', '', '', '', '', '', '', '', '', 'a']);
  });

  it('ends when it is aborted, also between two groups', async () => {
    const { seconds, ending, ended } = started({ keys: () => 'abcdef'.split(''), atOnce: 3 });
    expect(await seconds(3)).toEqual(['', '', 'abc']);
    ending.abort();
    await ended;
    expect(await seconds(6)).toEqual(['', '', '', '', '', '']);
  });

  it('never acts if the period is 0', async () => {
    const { seconds, ended } = started({ keys: () => ['a'], atOnce: 3, periodMs: 0 });
    await ended;
    expect(await seconds(2)).toEqual(['', '']);
  });
});
