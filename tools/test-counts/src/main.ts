import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf, sum } from './counts.ts';
import { failuresOf, flakesOf } from './failures.ts';
import type { Report } from './report.ts';

/** The npm scripts that leave a report in the folder TEST_REPORTS; `vitest.config.ts` names the reports after them. */
const RUNS = ['unit', 'process', 'real', 'net', 'test:images'];

/** A second test that passes only at its second try means that something is broken. */
const MAX_FLAKY = 1;

const folder = process.env['TEST_REPORTS'];
if (folder === undefined) {
  console.error('TEST_REPORTS must name the folder with the reports of the test runs');
  process.exit(2);
}
const runs = RUNS.map((name) => {
  const file = join(folder, `${name}.json`);
  // A run that was interrupted leaves no report.
  if (!existsSync(file))
    return {
      name: `${name} (interrupted)`,
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
  for (const flake of flakes) console.log(`\npassed only at the second try in ${name}: ${flake}`);
for (const { name, failures } of runs) for (const failure of failures) console.log(`\nfailed in ${name}: ${failure}`);
console.log();
const flaky = runs.reduce((total, { flakes }) => total + flakes.length, 0);
if (flaky > MAX_FLAKY) console.log(`${flaky} tests passed only at the second try; at most ${MAX_FLAKY} may`);
for (const { name, counts } of runs) console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed`);
const { passed, failed } = sum(runs.map(({ counts }) => counts));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && flaky <= MAX_FLAKY ? 0 : 1);
