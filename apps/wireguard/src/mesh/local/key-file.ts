import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parsePrivateKey, type PrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import type { Key } from '../../rotation/desired/planes.ts';

/** A key file can't be trusted, read or written. The message names the file, and never contains the key. */
export class KeyFileError extends Error {
  readonly code = 'KEY_FILE';
  override readonly name = 'KeyFileError';
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Reads a private key, and returns what others may know of it; undefined if the file or its folder doesn't exist. A user who can read the
 * file can impersonate this node, and one who can write to its folder can replace its key: such a file is refused.
 *
 * @throws {KeyFileError}
 */
export async function readKeyFile(path: string): Promise<Key | undefined> {
  if (!(await isSafeFolder(dirname(path)))) return undefined;
  // Refuses links, which could lead anywhere, and pipes, which could block.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(unlessAbsent(path));
  if (file === undefined) return undefined;
  try {
    return await keyIn(file, path);
  } finally {
    await file.close();
  }
}

/** Writes a private key to a new file, atomically. @throws {KeyFileError} also if the file exists */
export async function writeKeyFile(path: string, key: PrivateKey): Promise<void> {
  const draft = `${path}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await isSafeFolder(dirname(path));
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${key.reveal()}\n`);
      // Without this, a power failure may leave an empty file.
      await file.sync();
    } finally {
      await file.close();
    }
    // link(2) fails where rename(2) would replace a file.
    await link(draft, path);
    await rm(draft);
  } catch (error) {
    throw error instanceof KeyFileError ? error : new KeyFileError(`${path} can't be written: ${codeOf(error)}`);
  }
}

/**
 * Gives a key file the name of another one, which it replaces, atomically.
 *
 * @throws {KeyFileError} also if it can't be trusted
 */
export async function replaceKeyFile(path: string, { by }: { readonly by: string }): Promise<void> {
  if ((await readKeyFile(by)) === undefined) throw new KeyFileError(`${by} is missing`);
  try {
    await rename(by, path);
    const folder = await open(dirname(path), O_RDONLY);
    try {
      // Without this, a power failure may bring back the old name.
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw new KeyFileError(`${path} can't be replaced: ${codeOf(error)}`);
  }
}

async function keyIn(file: FileHandle, path: string): Promise<Key> {
  const status = await file.stat();
  if (!status.isFile()) throw new KeyFileError(`${path} is not a file`);
  if (!isTrusted(status.uid)) throw new KeyFileError(`${path} belongs to user ${status.uid}`);
  if ((status.mode & 0o077) !== 0)
    throw new KeyFileError(`${path} has mode ${octal(status.mode)}, so others can read the key: it must be 0600`);
  const key = parsePrivateKey(await file.readFile('utf8'));
  if (!key.ok) throw new KeyFileError(`${path} has no valid private key: ${key.reason}`);
  return { publicKey: publicKeyOf(key.value), writtenMs: status.mtimeMs };
}

/** @returns false if it doesn't exist */
async function isSafeFolder(folder: string): Promise<boolean> {
  const status = await stat(folder).catch(unlessAbsent(folder));
  if (status === undefined) return false;
  if (!status.isDirectory()) throw new KeyFileError(`${folder} is not a folder`);
  if (!isTrusted(status.uid)) throw new KeyFileError(`${folder} belongs to user ${status.uid}`);
  // Others may list it: the Go program allowed that, and names of files aren't secret.
  if ((status.mode & 0o022) !== 0)
    throw new KeyFileError(`${folder} has mode ${octal(status.mode)}, so others can replace the key: it must be 0700`);
  return true;
}

const isTrusted = (uid: number): boolean => uid === 0 || uid === process.getuid?.();

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

const unlessAbsent =
  (path: string) =>
  (error: unknown): undefined => {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    throw new KeyFileError(code === 'ELOOP' ? `${path} is a symbolic link` : `${path} can't be read: ${code}`);
  };
