import { setTimeout as delay } from 'node:timers/promises';

/** How long a program reuses one collection, with a margin for timers. */
const KEPT_MS = 1_050;

/**
 * Scrapes of metrics, or of the status, that are no older than the call. A program collects each at most once a second, so a scrape
 * waits until the last collection has expired. Calls in the meantime share the next scrape.
 */
export function freshScrapes<T>(scrape: () => Promise<T>): () => Promise<T> {
  let keptUntilMs = -Infinity;
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  const next = async (): Promise<T> => {
    await running;
    await delay(Math.max(0, keptUntilMs - performance.now()));
    waiting = undefined;
    const answer = scrape();
    running = answer.then(
      () => (keptUntilMs = performance.now() + KEPT_MS),
      () => {},
    );
    return answer;
  };
  return () => (waiting ??= next());
}
