import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { storeFlags } from './store.ts';

const run = promisify(execFile);

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The name and tag of an app's image: `semaphore-policy:0.1.0`. */
export const imageName = (app: string): string => `semaphore-${app}:${version}`;

/**
 * Runs podman to its end, on the images that `npm run images` built.
 *
 * @returns its standard output
 * @throws {Error} with `code`, `stdout` and `stderr` unless it ends with 0
 */
export async function podman(args: readonly string[]): Promise<string> {
  const { stdout } = await run('podman', [...storeFlags(), ...args], { maxBuffer: 1 << 26 });
  return stdout;
}
