/** One folder of the workspace, as its package.json describes it. */
export type Project = {
  /** From the root: `packages/net`. */
  readonly folder: string;
  /** `@kube-semaphore/net`. */
  readonly name: string;
  readonly tags: readonly string[];
  /** Names of what it needs when it runs. */
  readonly dependencies: readonly string[];
  /** Names of what its tests need besides. */
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

/** Whether a file only runs under a test runner: it is a test, or lies in the project's `test` folder. */
export function isTest({ path }: SourceFile): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}
