/** What one run of vitest counted. */
export type Counts = { readonly passed: number; readonly failed: number };

/**
 * Reads a report of vitest's `json` reporter. A file that failed before it ran a test counts as one failure, and so
 * does a test that was skipped: nothing is left out where this is used.
 */
export function countsOf(report: unknown): Counts {
  const { numPassedTests, numFailedTests, numTotalTests, testResults } = report as {
    numPassedTests: number;
    numFailedTests: number;
    numTotalTests: number;
    testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
  };
  const skipped = numTotalTests - numPassedTests - numFailedTests;
  const broken = testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
  return { passed: numPassedTests, failed: numFailedTests + skipped + broken.length };
}

export function sum(counts: readonly Counts[]): Counts {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  };
}
