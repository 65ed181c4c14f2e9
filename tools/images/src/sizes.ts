import { globSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Of an app's bundle, and of its image unpacked, all in bytes. */
export type Sizes = {
  readonly app: string;
  /** What Node.js reads, without the source maps. */
  readonly bundle: number;
  readonly image: number;
  /** The part of the image that its base was before. */
  readonly base: number;
  /** From exec to the first request to an API server, in milliseconds. */
  readonly startMs: number;
};

/** The most that may be, in the units of `Sizes`: bundle and image without its base. More needs a reason in docs/images.md. */
const budgets = { bundle: 2e6, ownBytes: 180e6, startMs: 300 } as const;

/** How many bytes of JavaScript a folder holds. */
export async function bundleBytes(folder: string): Promise<number> {
  const files = await Promise.all(globSync('**/*.mjs', { cwd: folder }).map((path) => stat(join(folder, path))));
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** What is above its budget, a sentence each. The time depends on what else the machine does, and is only told. */
export function excesses(all: readonly Sizes[]): string[] {
  return all.flatMap(({ app, bundle, image, base }) => [
    ...(bundle > budgets.bundle
      ? [`the bundle of ${app} has ${megabytes(bundle)}, and may have ${megabytes(budgets.bundle)}`]
      : []),
    ...(image - base > budgets.ownBytes
      ? [
          `the image of ${app} has ${megabytes(image - base)} besides its base, and may have ${megabytes(budgets.ownBytes)}`,
        ]
      : []),
  ]);
}

/** A table in Markdown, as docs/images.md has it. */
export function table(all: readonly Sizes[]): string {
  const rows = all.map(({ app, bundle, image, base, startMs }) => [
    `semaphore-${app}`,
    megabytes(bundle),
    megabytes(image),
    megabytes(image - base),
    `${Math.round(startMs)} ms`,
  ]);
  const budget = ['budget', megabytes(budgets.bundle), '', megabytes(budgets.ownBytes), `${budgets.startMs} ms`];
  const lines = [['image', 'bundle', 'unpacked', 'without its base', 'start to first request'], ...rows, budget];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const render = (line: readonly string[]) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [render(head), rule, ...body.map(render)].join('\n');
}

/** In MB of 10^6 bytes, as images are measured. */
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 10e6 ? 2 : 0)} MB`;
