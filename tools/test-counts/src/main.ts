import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf, sum } from './counts.ts';
import { failuresOf } from './failures.ts';
import type { Report } from './report.ts';

/** The runs that leave a report in the folder TEST_REPORTS; `vitest.config.ts` names it after the npm script. */
const RUNS = ['unit', 'process', 'real', 'net', 'test:images'];

const folder = process.env['TEST_REPORTS'];
if (folder === undefined) {
  console.error('TEST_REPORTS is not set: it names the folder that the test runs left their reports in');
  process.exit(2);
}
const runs = RUNS.map((name) => {
  const file = join(folder, `${name}.json`);
  // A run that left no report didn't get to its end.
  if (!existsSync(file)) return { name: `${name}, which did not run to its end`, counts: { passed: 0, failed: 1 }, failures: [] };
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return { name, counts: countsOf(report), failures: failuresOf(report, process.cwd()) };
});
for (const failure of runs.flatMap(({ name, failures }) => failures.map((text) => `${name}: ${text}`))) console.log(`\nnot passed in ${failure}`);
console.log();
for (const { name, counts } of runs) console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed`);
const { passed, failed } = sum(runs.map(({ counts }) => counts));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
