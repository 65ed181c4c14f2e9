import { open, stat } from 'node:fs/promises';
import type { Clock, Logger } from './dependencies.ts';
import { deniedHint } from './denied.ts';
import { ClusterAuthError, reasonOf } from './errors.ts';
import { type Rotating, singleFlight } from './rotating.ts';

/** How often the files are looked at, at most, and how often they are read after a value was refused. */
const CHECK_INTERVAL_MS = 1_000;

/** The files are read this often even if they look unchanged, as client-go does. */
const READ_INTERVAL_MS = 60_000;

/** A system's bundle of roots has 250 kB. */
const MAX_BYTES = 4 * 1024 * 1024;

type Options<T> = {
  readonly paths: readonly string[];
  /** Makes the value of the files' texts, in the order of `paths`. Throws a ClusterAuthError that names the file. */
  readonly parse: (texts: readonly string[]) => T;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * Opens a value that lies in files which other programs replace: kubelet by swapping a symlink further up the path,
 * people by an editor. The files are looked at when the value is asked for, so nothing runs while nobody asks, and
 * no inotify watch gets lost with the inode it was on.
 *
 * What can't be read later on leaves the last value in place, with one warning: a token may well be valid still.
 *
 * @throws {ClusterAuthError} if the files can't be read now
 */
export async function openFiles<T>(options: Options<T>): Promise<Rotating<T>> {
  const { paths, parse, clock, log } = options;
  let identity = await identify(paths);
  let texts = await Promise.all(paths.map((path) => readText(path)));
  let value = parse(texts);
  let readMs = clock.monotonicMs();
  let checkedMs = readMs;
  let failing = false;

  /** The identity is taken before the texts: files that are replaced in between are read once more. */
  async function read(seen: string): Promise<void> {
    readMs = clock.monotonicMs();
    const now = await Promise.all(paths.map((path) => readText(path)));
    // Most often nothing changed, and a bundle of roots takes a while to parse.
    if (now.some((text, index) => text !== texts[index])) value = parse(now);
    texts = now;
    identity = seen;
    if (failing) log.info({ files: paths }, 'files can be read again');
    failing = false;
  }

  const check = singleFlight(async () => {
    checkedMs = clock.monotonicMs();
    try {
      const seen = await identify(paths);
      if (failing || seen !== identity || checkedMs - readMs >= READ_INTERVAL_MS) await read(seen);
    } catch (error) {
      if (!failing) log.warn({ files: paths, err: error }, 'files can not be read again, their last content stays');
      failing = true;
    }
  });

  return {
    async current() {
      if (clock.monotonicMs() - checkedMs >= CHECK_INTERVAL_MS) await check();
      return value;
    },
    async renew() {
      if (clock.monotonicMs() - readMs < CHECK_INTERVAL_MS) return;
      // Whatever the files look like: a file system may keep a timestamp, and a size says little of a token.
      identity = '';
      await check();
    },
  };
}

/**
 * Reads a small text file.
 *
 * @param check of the file's mode; what it throws is a ClusterAuthError
 * @throws {ClusterAuthError} that names the path
 */
export async function readText(path: string, check?: (mode: number) => void): Promise<string> {
  try {
    await using file = await open(path);
    const { size, mode } = await file.stat();
    check?.(mode);
    if (size > MAX_BYTES) throw new ClusterAuthError('CLUSTER_FILE', `${path} has ${size} bytes, too many to be read`);
    return await file.readFile('utf8');
  } catch (cause) {
    if (cause instanceof ClusterAuthError) throw cause;
    throw new ClusterAuthError('CLUSTER_FILE', `${path} can't be read: ${reasonOf(cause)}${deniedHint(path, cause)}`, {
      cause,
    });
  }
}

/** What changes when a file is replaced or written, seen through the symlinks on its path. */
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
