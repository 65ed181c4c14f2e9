/** Enough for one reading; a file can have a problem in each three bytes. */
const MOST_PROBLEMS = 100;

/**
 * What an operator must change, each problem a sentence, printed without a stack. Exit code 2: no retry can succeed
 * with this configuration; 1: a retry may.
 */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  readonly exitCode: 1 | 2;

  constructor(problems: string | readonly string[], { exitCode = 2 }: { exitCode?: 1 | 2 } = {}) {
    const all = [problems].flat();
    const rest = all.slice(MOST_PROBLEMS);
    const few = rest.length === 0 ? all : [...all.slice(0, MOST_PROBLEMS), `and ${rest.length} more problems`];
    super(few.join('; '));
    this.problems = few;
    this.exitCode = exitCode;
  }
}
