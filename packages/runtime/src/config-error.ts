/** Nobody reads more at once, and a file can have one in each three bytes. */
const MOST_PROBLEMS = 100;

/**
 * What an operator has to put right, each problem a sentence for them, told without a stack. Exit code 2: the configuration
 * can't work, however often it is tried; 1: it may at another time.
 */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  readonly exitCode: 1 | 2;

  constructor(problems: string | readonly string[], { exitCode = 2 }: { exitCode?: 1 | 2 } = {}) {
    const told = typeof problems === 'string' ? [problems] : few(problems);
    super(told.join('; '));
    this.problems = told;
    this.exitCode = exitCode;
  }
}

function few(problems: readonly string[]): readonly string[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `and ${problems.length - MOST_PROBLEMS} more problems`];
}
