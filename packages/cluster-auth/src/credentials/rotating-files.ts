import { open, stat } from 'node:fs/promises';
import type { Clock, Logger } from '../dependencies.ts';
import { deniedHint } from './denied.ts';
import { ClusterAuthError, reasonOf } from '../errors.ts';
import { type Rotating, singleFlight } from './rotating.ts';

/** The files are checked, and are read after a value was refused, at most this often. */
const CHECK_INTERVAL_MS = 1_000;

/** The files are read this often even if they look unchanged, as in client-go. */
const READ_INTERVAL_MS = 60_000;

/** The roots of a distribution have 250 kB. */
const MAX_BYTES = 4 * 1024 * 1024;

type Options<T> = {
  readonly paths: readonly string[];
  /** Makes the value from the files' texts, in the order of `paths`. Throws a ClusterAuthError that names the file. */
  readonly parse: (texts: readonly string[]) => T | Promise<T>;
  /** Throws a ClusterAuthError if the mode of a file is unsafe. */
  readonly checkMode?: (mode: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A value in files. `isStale`: the files can't be used now, so the value is that of an earlier content. */
export type RotatingFiles<T> = Rotating<T> & { readonly isStale: boolean };

/**
 * Opens a value in files that other programs replace: kubelet swaps a symlink further up the path, people use an editor.
 * The files are checked when the value is requested, so nothing runs in between, and no inotify watch is lost with its
 * inode.
 *
 * If the files can't be read later, the last value stays, with one warning per reason: a token may still be valid.
 *
 * @throws {ClusterAuthError} if the files can't be read now
 */
export async function openFiles<T>(options: Options<T>): Promise<RotatingFiles<T>> {
  const { paths, parse, checkMode, clock, log } = options;
  const readAll = () => Promise.all(paths.map((path) => readText(path, checkMode)));
  let identity = await identify(paths);
  let texts = await readAll();
  let value = await parse(texts);
  let readMs = clock.monotonicMs();
  let checkedMs = readMs;
  /** Why the files can't be used now; undefined: they can. */
  let failure: string | undefined;

  /** @param seen the identity before the texts are read, so that files that are replaced meanwhile are read again */
  async function read(seen: string): Promise<void> {
    readMs = clock.monotonicMs();
    const now = await readAll();
    // Most often nothing changed, and a bundle of roots is slow to parse.
    if (now.some((text, index) => text !== texts[index])) value = await parse(now);
    texts = now;
    identity = seen;
    if (failure !== undefined) log.info({ files: paths }, 'files recovered');
    failure = undefined;
  }

  const check = singleFlight(async () => {
    checkedMs = clock.monotonicMs();
    try {
      const seen = await identify(paths);
      if (failure !== undefined || seen !== identity || checkedMs - readMs >= READ_INTERVAL_MS) await read(seen);
    } catch (error) {
      const { message } = error as Error;
      if (failure !== message)
        log.warn({ files: paths, err: error }, 'files can not be used; their last content stays in use');
      failure = message;
    }
  });

  return {
    get isStale() {
      return failure !== undefined;
    },
    async current() {
      if (clock.monotonicMs() - checkedMs >= CHECK_INTERVAL_MS) await check();
      return value;
    },
    async renew() {
      if (clock.monotonicMs() - readMs < CHECK_INTERVAL_MS) return;
      // Read even files that look unchanged: a new token may have the same size, and some file systems keep timestamps.
      identity = '';
      await check();
    },
  };
}

/**
 * Reads a small text file.
 *
 * @param check throws a ClusterAuthError if the file's mode is unsafe
 * @throws {ClusterAuthError} that names the path
 */
export async function readText(path: string, check?: (mode: number) => void): Promise<string> {
  try {
    await using file = await open(path);
    const { size, mode } = await file.stat();
    check?.(mode);
    if (size > MAX_BYTES)
      throw new ClusterAuthError(
        'CLUSTER_FILE',
        `${path} is too large: it has ${size} bytes, and ${MAX_BYTES} are allowed`,
      );
    return await file.readFile('utf8');
  } catch (cause) {
    if (cause instanceof ClusterAuthError) throw cause;
    throw new ClusterAuthError('CLUSTER_FILE', `${path} can't be read: ${reasonOf(cause)}${deniedHint(path, cause)}`, {
      cause,
    });
  }
}

/** A text that changes when a file, or a symlink on its path, is replaced or written. */
async function identify(paths: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    paths.map(async (path) => {
      try {
        const { dev, ino, size, ctimeNs } = await stat(path, { bigint: true });
        return `${dev}:${ino}:${size}:${ctimeNs}`;
      } catch (cause) {
        throw new ClusterAuthError(
          'CLUSTER_FILE',
          `${path} can't be read: ${reasonOf(cause)}${deniedHint(path, cause)}`,
          { cause },
        );
      }
    }),
  );
  return parts.join(' ');
}
