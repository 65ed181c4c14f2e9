import { expect, it } from 'vitest';
import { slowestFiles } from './slowest.ts';

const took = (name: string, seconds: number) => ({
  name: `/checkout/${name}`,
  status: 'passed',
  message: '',
  startTime: 5_000,
  endTime: 5_000 + seconds * 1_000,
  assertionResults: [],
});
const run = (script: string, ...testResults: ReturnType<typeof took>[]) => ({
  script,
  report: { testResults, errors: [] },
});

it('names the slowest files of all runs, the slowest first', () => {
  const runs = [run('process', took('a.test.ts', 3), took('b.test.ts', 1)), run('real', took('c.test.ts', 60.4))];
  expect(slowestFiles(runs, '/checkout', 2)).toEqual(['real: 60 s, c.test.ts', 'process: 3 s, a.test.ts']);
});
