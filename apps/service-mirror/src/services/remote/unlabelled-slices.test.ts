import { once } from 'node:events';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { MirrorOptions } from '../../config/options.ts';
import { UnlabelledSlices } from './unlabelled-slices.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** With the signals that end its watches, oldest first. */
function start() {
  const watches: AbortSignal[] = [];
  const stopped = new AbortController();
  /** A remote that never answers. */
  const silent = async (_: unknown, { signal }: RunOptions): Promise<never> => {
    await once(signal, 'abort');
    throw signal.reason;
  };
  const slices = new UnlabelledSlices({
    client: { list: silent, watch: silent } as unknown as KubeClient,
    rules: { addresses: { allowed: undefined, local: [] }, isLocal: false },
    options: { deletionGuardPercent: 50, watchIdleTimeoutMs: 90_000 } as MirrorOptions,
    budget: undefined,
    hooks: (until) => {
      watches.push(until);
      return {};
    },
    onChange: () => undefined,
  });
  const ended = slices.run({ signal: stopped.signal });
  return { slices, watches, stop: () => stopped.abort(), ended };
}

it('watches while it is needed, and for an hour after', () => {
  const { slices, watches } = start();
  slices.setNeeded(false);
  expect(watches).toEqual([]);
  slices.setNeeded(true);
  slices.setNeeded(true);
  slices.setNeeded(false);
  vi.advanceTimersByTime(HOUR_MS - 1);
  slices.setNeeded(false);
  expect(watches.map(({ aborted }) => aborted)).toEqual([false]);
  vi.advanceTimersByTime(1);
  expect(watches.map(({ aborted }) => aborted)).toEqual([true]);
  slices.setNeeded(true);
  expect(watches.map(({ aborted }) => aborted)).toEqual([true, false]);
});

it('stays open if it is needed again within the hour', () => {
  const { slices, watches } = start();
  slices.setNeeded(true);
  slices.setNeeded(false);
  vi.advanceTimersByTime(HOUR_MS / 2);
  slices.setNeeded(true);
  vi.advanceTimersByTime(2 * HOUR_MS);
  expect(watches.map(({ aborted }) => aborted)).toEqual([false]);
});

it('ends with the program, also while it lingers, and opens nothing after', async () => {
  const { slices, watches, stop, ended } = start();
  slices.setNeeded(true);
  slices.setNeeded(false);
  stop();
  await ended;
  slices.setNeeded(true);
  expect([watches.length, vi.getTimerCount()]).toEqual([1, 0]);
});
