/** One folder of the workspace, as its package.json describes it. */
export type Project = {
  /** From the root: `packages/net`. */
  readonly folder: string;
  /** `@kube-semaphore/net`. */
  readonly name: string;
  readonly tags: readonly string[];
  /** Names of its dependencies at run time. */
  readonly dependencies: readonly string[];
  /** Names of its tests' further dependencies. */
  readonly devDependencies: readonly string[];
  /** Globs of what its tests read elsewhere in the workspace, `{workspaceRoot}/docs/*.md`: its named input of nx. */
  readonly reads: readonly string[];
};

/** One TypeScript file. */
export type SourceFile = {
  /** From the project's folder: `src/cidr.ts`. */
  readonly path: string;
  readonly text: string;
};

/** Whether a file runs only in tests: it is a test, or in the project's `test` folder. */
export function isTest({ path }: SourceFile): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}
