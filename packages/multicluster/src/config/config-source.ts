import { readFileSync } from 'node:fs';
import { deniedHint } from '@kube-semaphore/cluster-auth';
import { ConfigError, type ConfigSource } from '@kube-semaphore/runtime';

/** Reads a config file. @throws {ConfigError} that names it */
export function readConfigSource(path: string): ConfigSource {
  try {
    return { path, content: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new ConfigError(`${path} can't be read: ${(error as NodeJS.ErrnoException).code}${deniedHint(path, error)}`);
  }
}
