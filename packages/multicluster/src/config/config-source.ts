import { readFileSync } from 'node:fs';
import { deniedHint } from '@kube-semaphore/cluster-auth';
import { ConfigError, type ConfigSource } from '@kube-semaphore/runtime';

/** @throws {ConfigError} that names the file */
export function readConfigSource(path: string): ConfigSource {
  try {
    return { path, content: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new ConfigError(`${path} can't be read: ${(error as NodeJS.ErrnoException).code}${deniedHint(path, error)}`);
  }
}
