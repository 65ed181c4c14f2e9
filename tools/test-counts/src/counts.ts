import { isBroken, type Report } from './report.ts';

/** The tests of one or more runs of vitest. */
export type Counts = { readonly passed: number; readonly failed: number };

/**
 * Counts the tests of a run. A file that failed outside of its tests counts as one failure. A skipped test counts as
 * failed, because CI skips none.
 */
export function countsOf({ numPassedTests, numFailedTests, numTotalTests, testResults }: Report): Counts {
  const skipped = numTotalTests - numPassedTests - numFailedTests;
  return { passed: numPassedTests, failed: numFailedTests + skipped + testResults.filter(isBroken).length };
}

export function sum(counts: readonly Counts[]): Counts {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  };
}
