import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The project's cache folder: in `XDG_CACHE_HOME`, by default ~/.cache. */
export const cacheFolder = (env: Environment = process.env): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kube-semaphore');
