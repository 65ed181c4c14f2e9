/** The configuration can't work, however often it is tried: exit code 2. The message is a sentence for the operator. */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name = 'ConfigError';
}
