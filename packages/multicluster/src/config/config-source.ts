import { readFileSync } from 'node:fs';
import { deniedHint } from '@kube-semaphore/cluster-auth';
import { ConfigError, type ConfigSource, type Logger } from '@kube-semaphore/runtime';

/** Reads a config file. @throws {ConfigError} that names it */
export function readConfigSource(path: string): ConfigSource {
  try {
    return { path, content: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new ConfigError(`${path} can't be read: ${(error as NodeJS.ErrnoException).code}${deniedHint(path, error)}`);
  }
}

/** The error of a config file with these problems, each with its field. */
export const invalidConfig = ({ path }: Pick<ConfigSource, 'path'>, problems: readonly string[]): ConfigError =>
  new ConfigError(problems.map((problem) => `${path}: ${problem}`));

/** Logs the warnings about a config file. */
export function warnOfConfig({ path }: Pick<ConfigSource, 'path'>, warnings: readonly string[], log: Logger): void {
  for (const warning of warnings) log.warn({ path }, warning);
}
