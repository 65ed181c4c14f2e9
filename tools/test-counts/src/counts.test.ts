import { expect, it } from 'vitest';
import { countsOf, sum } from './counts.ts';

const file = { name: '/checkout/a.test.ts', message: '', status: 'failed' };
const tests = [{ fullName: 'a test', status: 'failed' }];
const report = {
  numPassedTests: 3,
  numFailedTests: 1,
  numTotalTests: 4,
  testResults: [{ ...file, assertionResults: tests }],
};

it('counts tests that passed and tests that failed', () => {
  expect(countsOf(report)).toEqual({ passed: 3, failed: 1 });
});

it('counts a skipped test as failed', () => {
  expect(countsOf({ ...report, numTotalTests: 6 })).toEqual({ passed: 3, failed: 3 });
});

it('counts a broken file without tests as one failure', () => {
  expect(countsOf({ ...report, testResults: [{ ...file, assertionResults: [] }] })).toEqual({ passed: 3, failed: 2 });
});

it('counts a file whose cleanup failed after its tests passed as one failure', () => {
  const passed = [{ fullName: 'a test', status: 'passed' }];
  expect(
    countsOf({
      numPassedTests: 1,
      numFailedTests: 0,
      numTotalTests: 1,
      testResults: [{ ...file, assertionResults: passed }],
    }),
  ).toEqual({ passed: 1, failed: 1 });
});

it('adds up counts', () => {
  expect(
    sum([
      { passed: 1, failed: 0 },
      { passed: 2, failed: 3 },
    ]),
  ).toEqual({ passed: 3, failed: 3 });
  expect(sum([])).toEqual({ passed: 0, failed: 0 });
});
