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
  /** Why the file failed outside of its tests. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
};

/** Whether a file failed outside of its tests: in an import, or in a hook before or after them. */
export const isBroken = ({ status, assertionResults }: FileResult): boolean =>
  status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
