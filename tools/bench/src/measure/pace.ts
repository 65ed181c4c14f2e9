import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts a task for each item at a steady rate, also if earlier ones still run, so that a slow system gets no rest.
 * Rejects with the first failure.
 *
 * @returns the results in the order of the items
 */
export async function atRate<T, R>(
  items: readonly T[],
  perSecond: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const startMs = performance.now();
  const tasks = items.map(async (item, index) => {
    await delay(Math.max(0, startMs + (index * 1000) / perSecond - performance.now()));
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
