import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter } from 'vitest/node';

/** The results of an npm script that runs tests. */
export type Report = {
  readonly testResults: readonly FileResult[];
  /** Errors that belong to no test. */
  readonly errors: readonly string[];
};

/** The fields that we read from a report of vitest's `json` reporter. */
export type FileResult = {
  /** Absolute path. */
  readonly name: string;
  readonly status: string;
  /** When its first test began and its last one ended, in milliseconds. */
  readonly startTime: number;
  readonly endTime: number;
  /** Why the file failed outside of its tests. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
};

/** The folder, below that of all reports, with those of second tries. */
export const SECOND_TRY = 'second-try';

const resultsFile = (folder: string, script: string): string => join(folder, `${script}.json`);
const errorsFile = (folder: string, script: string): string => join(folder, `${script}.errors.json`);

/** Reporters of vitest that write the report of an npm script into a folder. */
export function reportersInto(folder: string, script: string): (Reporter | ['json', { outputFile: string }])[] {
  const errorReporter: Reporter = {
    onTestRunEnd(_files, errors) {
      if (errors.length === 0) return;
      mkdirSync(folder, { recursive: true });
      const texts = errors.map(({ stack, message }) => stack ?? message);
      writeFileSync(errorsFile(folder, script), JSON.stringify(texts));
    },
  };
  return [['json', { outputFile: resultsFile(folder, script) }], errorReporter];
}

/** Reads what the reporters wrote: undefined if the run didn't come to its end. */
export function readReport(folder: string, script: string): Report | undefined {
  const [results, errors] = [resultsFile(folder, script), errorsFile(folder, script)];
  if (!existsSync(results)) return undefined;
  const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as Pick<Report, 'testResults'>;
  return { testResults, errors: existsSync(errors) ? (JSON.parse(readFileSync(errors, 'utf8')) as string[]) : [] };
}

/** Whether a file failed outside of its tests: in an import, or in a hook before or after them. */
export const isBroken = ({ status, assertionResults }: FileResult): boolean =>
  status === 'failed' && assertionResults.every((test) => test.status !== 'failed');

/** The files that failed, in their tests or outside of them. */
export const failedFiles = ({ testResults }: Report): readonly string[] =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);

/** The result of the same file in its second try, if it had one. */
export const triedAgain = ({ name }: FileResult, second: Report): FileResult | undefined =>
  second.testResults.find((result) => result.name === name);

/** A file that ran twice has the results of its second try. An error that belongs to no test isn't tried again. */
export const lastTry = (first: Report, second: Report): Report => ({
  testResults: first.testResults.map((result) => triedAgain(result, second) ?? result),
  errors: [...first.errors, ...second.errors],
});
