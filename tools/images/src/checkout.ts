import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';

/** What the labels of an image say of where it comes from. */
export type Origin = { readonly version: string; readonly revision: string; readonly source: string };

/**
 * Reads a checkout's version and commit, with `-dirty` behind it if the files differ from it, and where it was cloned from.
 *
 * @param source said instead of the latter
 */
export async function originOf(root: string, source: string | undefined): Promise<Origin> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const git = async (...args: string[]) => (await run(['git', '-C', root, ...args])).trim();
  // Sources may come without git, and a checkout may be nobody's clone.
  const remote = source ?? (await git('remote', 'get-url', 'origin').catch(() => 'unknown'));
  const commit = await git('describe', '--always', '--abbrev=40', '--exclude=*', '--dirty').catch(() => 'unknown');
  return { version, revision: commit, source: withoutCredentials(remote) };
}

/** A URL without the name and the password that may be in it. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/@]*@/, '$1');
}
