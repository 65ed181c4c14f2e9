/** The fields that we read from a report of vitest's `json` reporter. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly FileResult[];
};

export type FileResult = {
  /** Absolute path. */
  readonly name: string;
  readonly status: string;
  /** Why the file failed before it ran a test. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
};

/** Whether a file failed before it ran a test: in an import or a hook. */
export const isBroken = ({ status, assertionResults }: FileResult): boolean =>
  status === 'failed' && assertionResults.length === 0;
