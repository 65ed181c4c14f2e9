import { globSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { markdownTable } from './markdown-table.ts';

/** Sizes of an app's bundle and of its unpacked image, in bytes. */
export type Sizes = {
  readonly app: string;
  /** JavaScript, without the source maps. */
  readonly bundle: number;
  readonly image: number;
  /** The part of the image that is its base. */
  readonly base: number;
  /** From exec to the first request to an API server, in milliseconds. */
  readonly startMs: number;
};

/** The limits, in the units of `Sizes`, for the bundle, and for the image without its base. docs/images.md lists them. */
const budgets = { bundle: 2e6, ownBytes: 180e6, startMs: 300 } as const;

/** The limit for the bundle of an app, in bytes. That of the operator has the official client. */
const bundleBudget = (app: string): number => (app === 'cli' ? 4e6 : budgets.bundle);

/** The bytes of JavaScript in a folder. */
export async function bundleBytes(folder: string): Promise<number> {
  const files = await Promise.all(globSync('**/*.[cm]js', { cwd: folder }).map((path) => stat(join(folder, path))));
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** A sentence for each size over its budget. The start time isn't checked: it depends on the load of the machine. */
export function excesses(all: readonly Sizes[]): string[] {
  return all.flatMap(({ app, bundle, image, base }) => [
    ...(bundle > bundleBudget(app)
      ? [`the bundle of ${app} has ${megabytes(bundle)}, over its budget of ${megabytes(bundleBudget(app))}`]
      : []),
    ...(image - base > budgets.ownBytes
      ? [
          `the image of ${app} has ${megabytes(image - base)} without its base, over its budget of ${megabytes(budgets.ownBytes)}`,
        ]
      : []),
  ]);
}

/** The Markdown table of docs/images.md. */
export function table(all: readonly Sizes[]): string {
  const rows = all.map(({ app, bundle, image, base, startMs }) => [
    `semaphore-${app}`,
    megabytes(bundle),
    megabytes(image),
    megabytes(image - base),
    `${Math.round(startMs)} ms`,
  ]);
  const budget = ['budget', megabytes(budgets.bundle), '', megabytes(budgets.ownBytes), `${budgets.startMs} ms`];
  return markdownTable([
    ['image', 'bundle', 'unpacked', 'without its base', 'start to first request'],
    ...rows,
    budget,
  ]);
}

/** In MB of 10^6 bytes, as images are measured. */
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 10e6 ? 2 : 0)} MB`;
