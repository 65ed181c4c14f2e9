/** What is read of a report of vitest's `json` reporter, which has the shape of Jest's. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly FileResult[];
};

export type FileResult = {
  /** Its whole path. */
  readonly name: string;
  readonly status: string;
  /** Why the file broke, where it did before it ran a test. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
};

/** A file that broke before it ran a test, as by an error in its imports or a hook. */
export const isBroken = ({ status, assertionResults }: FileResult): boolean =>
  status === 'failed' && assertionResults.length === 0;
