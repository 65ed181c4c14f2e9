import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parsePrivateKey, type PrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';

/** A key file can't be trusted, read or written. The message names the file, and says nothing of the key. */
export class KeyFileError extends Error {
  readonly code = 'KEY_FILE';
  override readonly name = 'KeyFileError';
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Reads a private key, for its public one. Whoever can read the file can pretend to be this node, and whoever can write
 * to its folder can make the node pretend to be somebody else: then it isn't used.
 *
 * @returns the public key; undefined if there is no such file, or no folder
 * @throws {KeyFileError}
 */
export async function readKeyFile(path: string): Promise<string | undefined> {
  if (!(await isSafeFolder(dirname(path)))) return undefined;
  // No link, which could lead anywhere, and no pipe, which could keep us waiting.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(unlessAbsent(path));
  if (file === undefined) return undefined;
  try {
    return await publicKeyIn(file, path);
  } finally {
    await file.close();
  }
}

/**
 * Keeps a private key in a file that wasn't there, in one step: a crash leaves all of it or nothing.
 *
 * @throws {KeyFileError} also if there is such a file by now
 */
export async function writeKeyFile(path: string, key: PrivateKey): Promise<void> {
  const draft = `${path}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await isSafeFolder(dirname(path));
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${key.reveal()}\n`);
      // Else a machine that loses power may keep the name and lose what is in it.
      await file.sync();
    } finally {
      await file.close();
    }
    // Where rename(2) would replace a file, link(2) fails.
    await link(draft, path);
    await rm(draft);
  } catch (error) {
    throw error instanceof KeyFileError ? error : new KeyFileError(`${path} can't be written: ${codeOf(error)}`);
  }
}

async function publicKeyIn(file: FileHandle, path: string): Promise<string> {
  const status = await file.stat();
  if (!status.isFile()) throw new KeyFileError(`${path} is no file`);
  if (!isTrusted(status.uid)) throw new KeyFileError(`${path} belongs to user ${status.uid}`);
  if ((status.mode & 0o077) !== 0)
    throw new KeyFileError(`${path} has mode ${octal(status.mode)}, and others could read the key: it takes 0600`);
  const key = parsePrivateKey(await file.readFile('utf8'));
  if (!key.ok) throw new KeyFileError(`${path} holds no private key: ${key.reason}`);
  return publicKeyOf(key.value);
}

/** @returns false if there is none */
async function isSafeFolder(folder: string): Promise<boolean> {
  const status = await stat(folder).catch(unlessAbsent(folder));
  if (status === undefined) return false;
  if (!status.isDirectory()) throw new KeyFileError(`${folder} is no folder`);
  if (!isTrusted(status.uid)) throw new KeyFileError(`${folder} belongs to user ${status.uid}`);
  // Others may list it: the Go program made it so, and names of files are no secret.
  if ((status.mode & 0o022) !== 0)
    throw new KeyFileError(
      `${folder} has mode ${octal(status.mode)}, and others could put a key of theirs there: it takes 0700`,
    );
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
