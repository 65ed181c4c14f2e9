import { expect, it } from 'vitest';
import { countsOf, sum } from './counts.ts';

const passed = { fullName: 'a test', status: 'passed' };
const failed = { fullName: 'another test', status: 'failed' };
const times = { startTime: 0, endTime: 1 };
const file = {
  ...times,
  name: '/checkout/a.test.ts',
  message: '',
  status: 'failed',
  assertionResults: [passed, passed, failed],
};
const report = { testResults: [file], errors: [] };

it('counts tests that passed and tests that failed', () => {
  expect(countsOf(report)).toEqual({ passed: 2, failed: 1 });
});

it('counts a skipped test as failed', () => {
  const assertionResults = [passed, { fullName: 'a third test', status: 'skipped' }];
  expect(countsOf({ ...report, testResults: [{ ...file, status: 'passed', assertionResults }] })).toEqual({
    passed: 1,
    failed: 1,
  });
});

it('counts a broken file without tests as one failure', () => {
  expect(countsOf({ ...report, testResults: [{ ...file, assertionResults: [] }] })).toEqual({ passed: 0, failed: 1 });
});

it('counts a file whose cleanup failed after its tests passed as one failure', () => {
  expect(countsOf({ ...report, testResults: [{ ...file, assertionResults: [passed] }] })).toEqual({
    passed: 1,
    failed: 1,
  });
});

it('counts an error that belongs to no test as one failure', () => {
  expect(countsOf({ ...report, errors: ['Error: too late'] })).toEqual({ passed: 2, failed: 2 });
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
