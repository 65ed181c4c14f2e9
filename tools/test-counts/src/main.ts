import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf, sum } from './counts.ts';

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
  const counts = existsSync(file) ? countsOf(JSON.parse(readFileSync(file, 'utf8'))) : { passed: 0, failed: 1 };
  console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed${existsSync(file) ? '' : ' (it did not run to its end)'}`);
  return counts;
});
const { passed, failed } = sum(runs);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
