import { isBroken, type Report } from './report.ts';

/** The tests of one or more runs of vitest. */
export type Counts = { readonly passed: number; readonly failed: number };

/**
 * Counts the tests of a run. A file that failed outside of its tests counts as one failure, and so does an error that
 * belongs to no test. A skipped test counts as failed, because CI skips none.
 */
export function countsOf({ testResults, errors }: Report): Counts {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return { passed, failed: tests.length - passed + testResults.filter(isBroken).length + errors.length };
}

export function sum(counts: readonly Counts[]): Counts {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  };
}
