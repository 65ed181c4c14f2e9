import { expect, it, onTestFinished, vi } from 'vitest';
import { Repeated } from './repeated.ts';

function counted() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let count = 0;
  let failure: Error | undefined;
  const read = async (): Promise<number> => {
    count += 1;
    if (failure !== undefined) throw failure;
    return count;
  };
  return { repeated: new Repeated(read, { everyMs: 1_000 }), fail: (error?: Error) => void (failure = error) };
}

it('a reading is repeated only when it is old and someone asks, who gets the last result meanwhile', async () => {
  const { repeated } = counted();
  expect([await repeated.get(), await repeated.get()]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([await repeated.get(), await repeated.get()]).toEqual([1, 2]);
});

it('a reading that fails is told, and tried again', async () => {
  const { repeated, fail } = counted();
  fail(new Error('gone'));
  await expect(repeated.get()).rejects.toThrow('gone');
  fail();
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(repeated.get()).rejects.toThrow('gone');
  expect(await repeated.get()).toBe(2);
});

it('the newest result is not waited for', async () => {
  const { repeated } = counted();
  expect(repeated.newest()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(0);
  expect(await repeated.newest()).toBe(1);
});
