import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf, sum } from './counts.ts';
import { failuresOf, flakesOf } from './failures.ts';
import type { Report } from './report.ts';

/** The runs that leave a report in the folder TEST_REPORTS; `vitest.config.ts` names it after the npm script. */
const RUNS = ['unit', 'process', 'real', 'net', 'test:images'];

/** Of a run on a busy machine some test may come too early or too late; with more of them something is broken. */
const MOST_FLAKY = 5;

const folder = process.env['TEST_REPORTS'];
if (folder === undefined) {
  console.error('TEST_REPORTS is not set: it names the folder that the test runs left their reports in');
  process.exit(2);
}
const runs = RUNS.map((name) => {
  const file = join(folder, `${name}.json`);
  // A run that left no report didn't get to its end.
  if (!existsSync(file))
    return {
      name: `${name}, which did not run to its end`,
      counts: { passed: 0, failed: 1 },
      failures: [],
      flakes: [],
    };
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return {
    name,
    counts: countsOf(report),
    failures: failuresOf(report, process.cwd()),
    flakes: flakesOf(report, process.cwd()),
  };
});
for (const { name, flakes } of runs)
  for (const flake of flakes) console.log(`\npassed at the second try only, in ${name}: ${flake}`);
for (const { name, failures } of runs)
  for (const failure of failures) console.log(`\nnot passed in ${name}: ${failure}`);
console.log();
const flaky = runs.reduce((total, { flakes }) => total + flakes.length, 0);
if (flaky > MOST_FLAKY) console.log(`${flaky} tests passed at the second try only, and no more than ${MOST_FLAKY} may`);
for (const { name, counts } of runs) console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed`);
const { passed, failed } = sum(runs.map(({ counts }) => counts));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && flaky <= MOST_FLAKY ? 0 : 1);
