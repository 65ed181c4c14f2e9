import { relative } from 'node:path';
import type { Report } from './report.ts';

/** The results of an npm script. */
type Run = { readonly script: string; readonly report: Report };

/** The files whose tests took longest, with the seconds from the first test to the end of the last. The slowest is first. */
export function slowestFiles(runs: readonly Run[], root: string, count: number): readonly string[] {
  const files = runs.flatMap(({ script, report }) =>
    report.testResults.map(({ name, startTime, endTime }) => ({ script, name, ms: endTime - startTime })),
  );
  return files
    .toSorted((a, b) => b.ms - a.ms || a.name.localeCompare(b.name))
    .slice(0, count)
    .map(({ script, name, ms }) => `${script}: ${Math.round(ms / 1000)} s, ${relative(root, name)}`);
}
