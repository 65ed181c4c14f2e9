import { relative } from 'node:path';
import { isBroken, type Report } from './report.ts';

/**
 * Describes each test that failed or was skipped, for the end of the log: the file relative to `root`, the test's name, and
 * the message with the lines of its stack that are in our own code.
 */
export function failuresOf({ testResults }: Report, root: string): readonly string[] {
  return testResults.flatMap((result) => {
    const file = relative(root, result.name);
    if (isBroken(result)) return [describe(file, result.message, root)];
    return result.assertionResults
      .filter(({ status }) => status !== 'passed')
      .map(({ fullName, status, failureMessages = [] }) =>
        describe(`${file} > ${fullName}`, failureMessages.join('\n') || status, root),
      );
  });
}

/** Describes each test that failed and then passed at its second try. */
export function flakesOf({ testResults }: Report, root: string): readonly string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages = [] }) =>
        describe(`${relative(root, name)} > ${fullName}`, failureMessages.join('\n'), root),
      ),
  );
}

function describe(title: string, message: string, root: string): string {
  const lines = message
    .trimEnd()
    .split('\n')
    .filter((line) => !isForeignFrame(line, root));
  return [title, ...lines.map((line) => `  ${line.replaceAll(`${root}/`, '')}`)].join('\n');
}

const isForeignFrame = (line: string, root: string): boolean =>
  /^\s+at /.test(line) && (!line.includes(`${root}/`) || line.includes('/node_modules/'));
