import { describe, expect, it } from 'vitest';
import { countsOf } from './counts.ts';
import { failuresOf, flakesOf } from './failures.ts';
import { type FileResult, lastTry } from './report.ts';

const report = (...testResults: readonly FileResult[]) => ({ testResults, errors: [] });
const file = {
  name: '/checkout/apps/policy/test/sync.test.ts',
  status: 'failed',
  message: '',
  startTime: 0,
  endTime: 1,
};

it('names the file, the test, the reason and the place in our code', () => {
  const message = [
    'AssertionError: expected 1 to be 2\n\n- 2\n+ 1',
    '    at equals (/checkout/node_modules/chai/a.js:1:1)',
    '    at /checkout/apps/policy/test/sync.test.ts:3:5',
    '    at node:internal',
  ].join('\n');
  const failed = { fullName: 'a pod of c2 is in a set', status: 'failed', failureMessages: [message] };
  const passed = { fullName: 'another one', status: 'passed', failureMessages: [] };
  expect(failuresOf(report({ ...file, assertionResults: [failed, passed] }), '/checkout')).toEqual([
    [
      'apps/policy/test/sync.test.ts > a pod of c2 is in a set',
      '  AssertionError: expected 1 to be 2\n  \n  - 2\n  + 1',
      '      at apps/policy/test/sync.test.ts:3:5',
    ].join('\n'),
  ]);
});

it('names a skipped test', () => {
  const skipped = { fullName: 'a pod of c2 is in a set', status: 'skipped' };
  expect(failuresOf(report({ ...file, status: 'passed', assertionResults: [skipped] }), '/checkout')).toEqual([
    'apps/policy/test/sync.test.ts > a pod of c2 is in a set\n  skipped',
  ]);
});

it('names a file that failed before it ran a test', () => {
  const broken = { ...file, message: "Cannot find package 'nothing'", assertionResults: [] };
  expect(failuresOf(report(broken), '/checkout')).toEqual([
    "apps/policy/test/sync.test.ts\n  Cannot find package 'nothing'",
  ]);
});

it('names a file whose cleanup failed after its tests passed', () => {
  const passed = { fullName: 'a pod of c2 is in a set', status: 'passed' };
  const broken = { ...file, message: 'etcd did not stop', assertionResults: [passed] };
  expect(failuresOf(report(broken), '/checkout')).toEqual(['apps/policy/test/sync.test.ts\n  etcd did not stop']);
});

it('omits tests that passed', () => {
  const passed = { fullName: 'a pod of c2 is in a set', status: 'passed', failureMessages: [] };
  expect(failuresOf(report({ ...file, status: 'passed', assertionResults: [passed] }), '/checkout')).toEqual([]);
});

it('names an error that belongs to no test', () => {
  expect(failuresOf({ testResults: [], errors: ['Error: too late\n    at node:internal'] }, '/checkout')).toEqual([
    'an error that belongs to no test\n  Error: too late',
  ]);
});

describe('a second try', () => {
  const passing = { fullName: 'a pod of c2 is in a set', status: 'passed', failureMessages: [] };
  const failing = { ...passing, status: 'failed', failureMessages: ['Error: waited 30000 ms'] };
  const other = { ...passing, fullName: 'another one' };
  const first = report(
    { ...file, assertionResults: [failing, other] },
    { ...file, name: '/checkout/other.test.ts', status: 'passed', assertionResults: [other] },
  );

  it('makes a flake of what failed only at the first one', () => {
    const second = report({ ...file, status: 'passed', assertionResults: [passing, other] });
    expect(flakesOf(first, second, '/checkout')).toEqual([
      'apps/policy/test/sync.test.ts > a pod of c2 is in a set\n  Error: waited 30000 ms',
    ]);
    expect(failuresOf(lastTry(first, second), '/checkout')).toEqual([]);
    expect(countsOf(lastTry(first, second))).toEqual({ passed: 3, failed: 0 });
  });

  it('leaves what fails again a failure', () => {
    const second = report({ ...file, assertionResults: [{ ...failing, failureMessages: ['Error: again'] }, other] });
    expect(flakesOf(first, second, '/checkout')).toEqual([]);
    expect(failuresOf(lastTry(first, second), '/checkout')).toEqual([
      'apps/policy/test/sync.test.ts > a pod of c2 is in a set\n  Error: again',
    ]);
  });

  it('makes a failure of what fails only then', () => {
    const second = report({ ...file, assertionResults: [passing, { ...failing, fullName: 'another one' }] });
    expect(failuresOf(lastTry(first, second), '/checkout')).toEqual([
      'apps/policy/test/sync.test.ts > another one\n  Error: waited 30000 ms',
    ]);
  });

  it('makes one flake of a file that was broken, with all its tests', () => {
    const skipped = { ...passing, status: 'skipped' };
    const broken = report({
      ...file,
      message: 'etcd did not start',
      assertionResults: [skipped, { ...other, status: 'skipped' }],
    });
    const second = report({ ...file, status: 'passed', assertionResults: [passing, other] });
    expect(flakesOf(broken, second, '/checkout')).toEqual(['apps/policy/test/sync.test.ts\n  etcd did not start']);
  });

  it('changes nothing of a file that it has not', () => {
    expect(flakesOf(first, report(), '/checkout')).toEqual([]);
    expect(failuresOf(lastTry(first, report()), '/checkout')).toEqual(failuresOf(first, '/checkout'));
  });

  it('keeps an error that belongs to no test', () => {
    const second = report({ ...file, status: 'passed', assertionResults: [passing, other] });
    expect(failuresOf(lastTry({ ...first, errors: ['Error: too late'] }, second), '/checkout')).toEqual([
      'an error that belongs to no test\n  Error: too late',
    ]);
  });
});
