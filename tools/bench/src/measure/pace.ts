import { setTimeout as delay } from 'node:timers/promises';

/** Resolves at a time of `performance.now()`. */
type SleepUntil = (atMs: number) => Promise<void>;

const sleepUntil: SleepUntil = (atMs) => delay(Math.max(0, atMs - performance.now()));

/**
 * Starts a task for each item at a steady rate, also if earlier ones still run, so that a slow system gets no rest.
 * Rejects with the first failure.
 *
 * @returns the results in the order of the items
 */
export async function atRate<T, R>(
  items: readonly T[],
  { perSecond, sleep = sleepUntil }: { perSecond: number; sleep?: SleepUntil },
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const startMs = performance.now();
  const tasks = items.map(async (item, index) => {
    await sleep(startMs + (index * 1000) / perSecond);
    return task(item);
  });
  return Promise.all(tasks);
}

/**
 * Runs a task for each item, at most `limit` at a time. Rejects with the first failure.
 *
 * @returns the results in the order of the items
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}
