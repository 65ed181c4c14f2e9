import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { deniedHint } from '@kube-semaphore/cluster-auth';
import { ConfigError, type ConfigSource, type Logger } from '@kube-semaphore/runtime';

/** Reads a config file, and its mode. @throws {ConfigError} that names it */
export function readConfigSource(path: string): ConfigSource & { readonly mode: number } {
  try {
    // Kubelet may replace the file between two looks at it.
    const file = openSync(path, 'r');
    try {
      return { path, content: readFileSync(file, 'utf8'), mode: fstatSync(file).mode };
    } finally {
      closeSync(file);
    }
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
