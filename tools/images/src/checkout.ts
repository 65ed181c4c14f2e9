import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';

/** The origin of an image, for its labels. */
export type Origin = { readonly version: string; readonly revision: string; readonly source: string };

/**
 * The time of a build in seconds: SOURCE_DATE_EPOCH, or else that of the commit; undefined without either.
 *
 * @throws {Error} if SOURCE_DATE_EPOCH is not a number of seconds
 */
export async function epochOf(
  root: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<number | undefined> {
  const told = env['SOURCE_DATE_EPOCH'];
  // Sources may have no git.
  if (told === undefined) return run(['git', '-C', root, 'log', '-1', '--format=%ct']).then(Number, () => undefined);
  if (!/^\d+$/.test(told)) throw new Error(`SOURCE_DATE_EPOCH: "${told}" is not a number of seconds`);
  return Number(told);
}

/**
 * Reads a checkout's version, its commit (with `-dirty` if files differ), and its origin.
 *
 * @param source replaces the origin
 */
export async function originOf(root: string, source: string | undefined): Promise<Origin> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const git = async (...args: string[]) => (await run(['git', '-C', root, ...args])).trim();
  // Sources may have no git, or no origin.
  const remote = source ?? (await git('remote', 'get-url', 'origin').catch(() => 'unknown'));
  const commit = await git('describe', '--always', '--abbrev=40', '--exclude=*', '--dirty').catch(() => 'unknown');
  return { version, revision: commit, source: withoutCredentials(remote) };
}

/** A URL without user name and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/@]*@/, '$1');
}
