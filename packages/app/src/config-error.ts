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
    const all = typeof problems === 'string' ? [problems] : problems;
    super(all.join('; '));
    this.problems = all;
    this.exitCode = exitCode;
  }
}
