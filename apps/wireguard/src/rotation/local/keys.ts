import { stat, writeFile } from 'node:fs/promises';
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

/** Asks the agent of this node for a new key. */
export const requestRotation = (place: KeyPlace): Promise<void> => writeFile(requestPath(place), '', { mode: 0o600 });

/** When a user last asked, in milliseconds of Unix time; undefined: never. */
export const requestedMs = (place: KeyPlace): Promise<number | undefined> =>
  stat(requestPath(place)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined, // it isn't there
  );

/** The file of one of the two keys. */
export const keyPath = (place: KeyPlace, which: 'current' | 'next'): string =>
  which === 'current' ? currentPath(place) : nextPath(place);

const currentPath = ({ folder, remote }: KeyPlace): string => join(folder, keyFileName(remote));
const nextPath = ({ folder, remote }: KeyPlace): string => join(folder, nextKeyFileName(remote));
const requestPath = ({ folder, remote }: KeyPlace): string => join(folder, requestFileName(remote));
