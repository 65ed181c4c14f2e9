import { setTimeout as delay } from 'node:timers/promises';

/** How long a program answers scrapes from one collection, and a little for its timer and ours. */
const KEPT_MS = 1_050;

/**
 * Scrapes that were collected after they were asked for. A program collects its metrics once a second at most, and gives what
 * it has to those who ask again: so a scrape waits until what the last one got is kept no longer. Who asks meanwhile shares it.
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
