/** The configuration can't work, however often it is tried: exit code 2. Each problem is a sentence for the operator. */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[]) {
    const all = typeof problems === 'string' ? [problems] : problems;
    super(all.join('; '));
    this.problems = all;
  }
}
