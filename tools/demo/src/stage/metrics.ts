import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { App } from './app.ts';

/** Which lines of an app's metrics. */
export type SeriesQuery = {
  readonly app: Pick<App, 'title' | 'url'>;
  /** The beginnings of lines: a metric's name, and as many of its labels as matter, in the order in which they come. */
  readonly series: string;
  readonly signal: AbortSignal;
};

/** The lines as an operator would see them. */
export async function readSeries({ app, series, signal }: SeriesQuery): Promise<string[]> {
  const response = await fetch(`${app.url}/metrics`, { signal });
  return (await response.text()).split('\n').filter((line) => line.startsWith(series));
}

/** Waits until the lines' values add up to what `isMet` is content with; returns the lines. */
export function waitForSeries(query: SeriesQuery, isMet: (sum: number) => boolean): Promise<string[]> {
  return eventually(async () => {
    const lines = await readSeries(query);
    return isMet(sumOf(lines)) ? lines : undefined;
  }, isDefined, { what: `${query.series} of ${query.app.title}`, timeoutMs: 15_000, intervalMs: 5 });
}

/** What the lines count together. */
export function sumOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
