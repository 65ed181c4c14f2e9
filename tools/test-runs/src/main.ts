import { join } from 'node:path';
import { countsOf, sum } from './counts.ts';
import { failuresOf, flakesOf, MAX_FLAKY } from './failures.ts';
import { lastTry, readReport, type Report, SECOND_TRY } from './report.ts';
import { slowestFiles } from './slowest.ts';

/** The npm scripts that leave a report in the folder TEST_REPORTS; `vitest.config.ts` names the reports after them. */
const SCRIPTS = ['unit', 'process', 'real', 'net', 'test:images'];

/** How many of the slowest files are named. */
const SLOWEST = 10;

/** A second try that was not needed. */
const NO_TRY: Report = { testResults: [], errors: [] };

const folder = process.env['TEST_REPORTS'];
if (folder === undefined) {
  console.error('TEST_REPORTS must name the folder with the reports of the test runs');
  process.exit(2);
}
const root = process.cwd();
const runs = SCRIPTS.map((script) => {
  const first = readReport(folder, script);
  if (first === undefined)
    return {
      script: `${script} (interrupted)`,
      report: NO_TRY,
      counts: { passed: 0, failed: 1 },
      failures: [],
      flakes: [],
    };
  const second = readReport(join(folder, SECOND_TRY), script) ?? NO_TRY;
  const report = lastTry(first, second);
  return {
    script,
    report: first,
    counts: countsOf(report),
    failures: failuresOf(report, root),
    flakes: flakesOf(first, second, root),
  };
});
for (const { script, flakes } of runs)
  for (const flake of flakes) console.log(`\npassed only at the second try in ${script}: ${flake}`);
for (const { script, failures } of runs)
  for (const failure of failures) console.log(`\nfailed in ${script}: ${failure}`);
console.log(['\nThe slowest files:', ...slowestFiles(runs, root, SLOWEST), ''].join('\n'));
const flaky = runs.reduce((total, { flakes }) => total + flakes.length, 0);
if (flaky > MAX_FLAKY) console.log(`${flaky} tests passed only at the second try; at most ${MAX_FLAKY} may`);
for (const { script, counts } of runs) console.log(`${script}: ${counts.passed} passed, ${counts.failed} failed`);
const { passed, failed } = sum(runs.map(({ counts }) => counts));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && flaky <= MAX_FLAKY ? 0 : 1);
