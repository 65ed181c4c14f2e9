import { expect, it } from 'vitest';
import { failuresOf, flakesOf } from './failures.ts';
import type { FileResult } from './report.ts';

const report = (...testResults: readonly FileResult[]) => ({
  numPassedTests: 0,
  numFailedTests: 0,
  numTotalTests: 0,
  testResults,
});
const file = { name: '/checkout/apps/policy/test/sync.test.ts', status: 'failed', message: '' };

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

it('lists a test that passed at its second try as flaky, not as failed', () => {
  const flaky = {
    fullName: 'a pod of c2 is in a set',
    status: 'passed',
    failureMessages: ['Error: waited 30000 ms'],
  };
  const passed = { fullName: 'another one', status: 'passed', failureMessages: [] };
  const run = report({ ...file, status: 'passed', assertionResults: [flaky, passed] });
  expect(flakesOf(run, '/checkout')).toEqual([
    'apps/policy/test/sync.test.ts > a pod of c2 is in a set\n  Error: waited 30000 ms',
  ]);
  expect(failuresOf(run, '/checkout')).toEqual([]);
});

it('lists a test that failed twice as failed, not as flaky', () => {
  const failed = {
    fullName: 'a pod of c2 is in a set',
    status: 'failed',
    failureMessages: ['Error: first', 'Error: second'],
  };
  const run = report({ ...file, assertionResults: [failed] });
  expect(flakesOf(run, '/checkout')).toEqual([]);
  expect(failuresOf(run, '/checkout')).toEqual([
    'apps/policy/test/sync.test.ts > a pod of c2 is in a set\n  Error: first\n  Error: second',
  ]);
});
