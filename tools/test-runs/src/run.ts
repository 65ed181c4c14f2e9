import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { failuresOf, MAX_FLAKY } from './failures.ts';
import { failedFiles, readReport, SECOND_TRY } from './report.ts';

/**
 * Runs the tests of a project of vitest: `run.ts PROJECT [FILTER...]`. In CI, which has reports, a file with a failed test
 * runs once more, whole, with new fixtures: the objects that the test left behind would fail it again. `test-counts` names
 * what passed only then.
 */
const { TEST_REPORTS: folder, npm_lifecycle_event: script = '' } = process.env;
const [project = '', ...filters] = process.argv.slice(2);

const vitest = (files: readonly string[], env: NodeJS.ProcessEnv): boolean =>
  spawnSync('vitest', ['run', '--project', project, ...files], { stdio: 'inherit', env }).status === 0;

/** Not after more failures than may be mended so, or after errors alone, which belong to no file. */
function secondTry(): boolean {
  if (folder === undefined) return false;
  const report = readReport(folder, script);
  if (report === undefined || failuresOf(report, '/').length > MAX_FLAKY) return false;
  const files = failedFiles(report);
  if (files.length === 0) return false;
  console.log(`\nSecond try: ${files.join(' ')}`);
  return vitest(files, { ...process.env, TEST_REPORTS: join(folder, SECOND_TRY) });
}

process.exitCode = vitest(filters, process.env) || secondTry() ? 0 : 1;
