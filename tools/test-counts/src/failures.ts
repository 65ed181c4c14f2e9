import { relative } from 'node:path';
import { isBroken, type Report } from './report.ts';

/**
 * Says of each test that did not pass which it was and why, for the end of a log whose middle nobody keeps: the file
 * relative to `root`, the test's name, and the message with those lines of its stack that lie in our own code.
 */
export function failuresOf({ testResults }: Report, root: string): readonly string[] {
  return testResults.flatMap((result) => {
    const file = relative(root, result.name);
    if (isBroken(result)) return [told(file, result.message, root)];
    return result.assertionResults
      .filter(({ status }) => status !== 'passed')
      .map(({ fullName, status, failureMessages = [] }) =>
        told(`${file} > ${fullName}`, failureMessages.join('\n') || status, root),
      );
  });
}

/** Says the same of each test that failed and passed when it was tried again: a fault of the test or of what it tests. */
export function flakesOf({ testResults }: Report, root: string): readonly string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages = [] }) =>
        told(`${relative(root, name)} > ${fullName}`, failureMessages.join('\n'), root),
      ),
  );
}

function told(title: string, message: string, root: string): string {
  const lines = message
    .trimEnd()
    .split('\n')
    .filter((line) => !isForeignFrame(line, root));
  return [title, ...lines.map((line) => `  ${line.replaceAll(`${root}/`, '')}`)].join('\n');
}

const isForeignFrame = (line: string, root: string): boolean =>
  /^\s+at /.test(line) && (!line.includes(`${root}/`) || line.includes('/node_modules/'));
