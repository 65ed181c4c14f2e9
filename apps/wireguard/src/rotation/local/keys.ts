import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePrivateKey } from '@kube-semaphore/wireguard-tools';
import { readKeyFile, replaceKeyFile, writeKeyFile } from '../../mesh/local/key-file.ts';
import { keyFileName, nextKeyFileName, requestFileName } from '../../names.ts';
import type { Keys } from '../desired/planes.ts';

/** Where the keys of a remote are: `-wg-key-path` and the remote's name. */
export type KeyPlace = { readonly folder: string; readonly remote: string };

/** @returns undefined if there is no key yet @throws {KeyFileError} if a file can't be trusted */
export async function readKeys(place: KeyPlace): Promise<Keys | undefined> {
  const current = await readKeyFile(currentPath(place));
  return current && { current, next: await readKeyFile(nextPath(place)) };
}

/** Begins a rotation. @throws {KeyFileError} also if one has begun: its key may be announced already */
export const makeNextKey = (place: KeyPlace): Promise<void> => writeKeyFile(nextPath(place), generatePrivateKey());

/** Ends a rotation: the next key becomes the key, and the old one is gone. @throws {KeyFileError} */
export const commitNextKey = (place: KeyPlace): Promise<void> =>
  replaceKeyFile(currentPath(place), { by: nextPath(place) });

/** That a user asked for a new key. */
export type RotationRequest = {
  /** In milliseconds of Unix time. */
  readonly atMs: number;
  /** The rotation doesn't end without Nodes that don't follow. */
  readonly waitsForAll: boolean;
};

const WAIT_FOR_ALL = 'wait-for-all\n';

/** Asks the agent of this node for a new key. @param atMs default: now */
export async function requestRotation(
  place: KeyPlace,
  { waitsForAll = false, atMs }: Partial<RotationRequest> = {},
): Promise<void> {
  await writeFile(requestPath(place), waitsForAll ? WAIT_FOR_ALL : '', { mode: 0o600 });
  if (atMs !== undefined) await utimes(requestPath(place), atMs / 1_000, atMs / 1_000);
}

/** What a user last asked for; undefined: never. */
export async function readRequest(place: KeyPlace): Promise<RotationRequest | undefined> {
  try {
    const [{ mtimeMs: atMs }, text] = await Promise.all([
      stat(requestPath(place)),
      readFile(requestPath(place), 'utf8'),
    ]);
    return { atMs, waitsForAll: text === WAIT_FOR_ALL };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The file of one of the two keys. */
export const keyPath = (place: KeyPlace, which: 'current' | 'next'): string =>
  which === 'current' ? currentPath(place) : nextPath(place);

const currentPath = ({ folder, remote }: KeyPlace): string => join(folder, keyFileName(remote));
const nextPath = ({ folder, remote }: KeyPlace): string => join(folder, nextKeyFileName(remote));
const requestPath = ({ folder, remote }: KeyPlace): string => join(folder, requestFileName(remote));
