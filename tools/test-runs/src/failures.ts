import { relative } from 'node:path';
import { type FileResult, isBroken, type Report, triedAgain } from './report.ts';

/** A second test that passes only at its second try means that something is broken. */
export const MAX_FLAKY = 1;

/**
 * Describes each test that failed or was skipped, for the end of the log: the file relative to `root`, the test's name, and
 * the message with the lines of its stack that are in our own code. Errors that belong to no test come last.
 */
export function failuresOf({ testResults, errors }: Report, root: string): readonly string[] {
  return [
    ...testResults.flatMap((file) => failures(file).map((failure) => describe(file, failure, root))),
    ...errors.map((error) => ['an error that belongs to no test', ...ownLines(error, root)].join('\n')),
  ];
}

/** Describes each failure of a first try that the second try of its file didn't have. */
export const flakesOf = (first: Report, second: Report, root: string): readonly string[] =>
  first.testResults.flatMap((file) => {
    const last = triedAgain(file, second);
    if (last === undefined) return [];
    const remaining = new Set(failures(last).map(({ test }) => test));
    return failures(file)
      .filter(({ test, status }) => status === 'failed' && !remaining.has(test))
      .map((failure) => describe(file, failure, root));
  });

type Failure = {
  /** The name of the test, or undefined if the file failed outside of its tests. */
  readonly test?: string;
  readonly status: string;
  readonly message: string;
};

/** The tests of a file that is broken were not run, or have passed. */
function failures(file: FileResult): readonly Failure[] {
  if (isBroken(file)) return [file];
  return file.assertionResults
    .filter(({ status }) => status !== 'passed')
    .map(({ fullName, status, failureMessages = [] }) => ({
      test: fullName,
      status,
      message: failureMessages.join('\n') || status,
    }));
}

function describe({ name }: FileResult, { test, message }: Failure, root: string): string {
  const title = [relative(root, name), test].filter((part) => part !== undefined).join(' > ');
  return [title, ...ownLines(message, root)].join('\n');
}

const ownLines = (message: string, root: string): readonly string[] =>
  message
    .trimEnd()
    .split('\n')
    .filter((line) => !isForeignFrame(line, root))
    .map((line) => `  ${line.replaceAll(`${root}/`, '')}`);

const isForeignFrame = (line: string, root: string): boolean =>
  /^\s+at /.test(line) && (!line.includes(`${root}/`) || line.includes('/node_modules/'));
