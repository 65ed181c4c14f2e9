import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { loggable, WireGuardToolsError } from './errors.ts';
import { systemTools } from './system-tools.ts';

const TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** How wireguard-go is started. */
export type UserspaceOptions = {
  readonly name: string;
  /** It appends its errors to this file. */
  readonly logFile: string;
  /** Default: `wireguard-go`, from the PATH. */
  readonly program?: string;
  readonly signal: AbortSignal;
};

/** A running wireguard-go. */
export type UserspaceDevice = { readonly pid: number };

/**
 * Starts a wireguard-go, and waits until its device answers `wg`. Like a kernel device, it is down, and has neither address nor
 * key; its MTU is wireguard-go's. The process has a session of its own and none of our files, so its tunnels outlive us. It ends
 * when its device is deleted.
 *
 * @throws {WireGuardToolsError} if it ends, or doesn't answer within ten seconds; then nothing is left of it
 */
export async function startUserspaceDevice({
  name,
  logFile,
  program = 'wireguard-go',
  signal,
}: UserspaceOptions): Promise<UserspaceDevice> {
  signal.throwIfAborted();
  const log = await open(logFile, 'a', 0o600);
  const { size } = await log.stat();
  // Not a pipe: it would break when we end, and kill a Go program that writes to it.
  const child = spawn(program, ['-f', name], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { ...process.env, LOG_LEVEL: 'error' },
  });
  const ended = endOf(child);
  await log.close();
  const asking = new AbortController();
  try {
    const attempt = AbortSignal.any([signal, asking.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    await Promise.race([answer(name, attempt), ended.then((reason) => Promise.reject(reason))]);
    child.unref();
    return { pid: Number(child.pid) };
  } catch (error) {
    asking.abort();
    child.kill('SIGKILL');
    await ended;
    signal.throwIfAborted();
    if (error instanceof WireGuardToolsError && error.code === 'WG_NOT_INSTALLED') throw error;
    const words = await errorsIn(logFile, size);
    throw new WireGuardToolsError('WG_FAILED', `wireguard-go ${name}: ${words || loggable(String(error))}`);
  }
}

/** One peer that isn't reached writes 2 MB a day, and there may be thousands. */
const MAX_LOG_BYTES = 1_000_000;

/**
 * Empties the log of a wireguard-go that has become too large. It goes on at the beginning, as it appends.
 *
 * @returns what was in it last; undefined: it stays as it is, or doesn't exist
 * @throws NodeJS.ErrnoException
 */
export async function emptyLargeLog(logFile: string): Promise<string | undefined> {
  const size = await sizeOf(logFile);
  if (size <= MAX_LOG_BYTES) return undefined;
  const file = await open(logFile, 'r+');
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(LAST_BYTES), position: size - LAST_BYTES });
    await file.truncate();
    return loggable(buffer.toString('utf8').trimEnd().split('\n').at(-1)!);
  } finally {
    await file.close();
  }
}

/** More than a line has. */
const LAST_BYTES = 1_000;

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Resolves once the device speaks WireGuard, and the kernel won't add an address to it. */
async function answer(name: string, signal: AbortSignal): Promise<void> {
  const tools = systemTools();
  while ((await tools.device(name, { signal })) === undefined) await delay(POLL_MS, undefined, { signal });
  await tools.changeLink(name, { linkLocal: false }, { signal });
}

/** Resolves with the reason why it ended, or couldn't start. */
async function endOf(child: ChildProcess): Promise<WireGuardToolsError> {
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
    return new WireGuardToolsError('WG_FAILED', killedBy ?? `exit code ${code}`);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return new WireGuardToolsError(
      missing ? 'WG_NOT_INSTALLED' : 'WG_FAILED',
      missing ? 'wireguard-go is not installed' : loggable(String(error)),
    );
  }
}

/** The errors after the first `size` bytes of the file, without wireguard-go's hint at the kernel module. */
async function errorsIn(logFile: string, size: number): Promise<string> {
  const text = (await readFile(logFile)).subarray(size).toString('utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('ERROR: '));
  return loggable(lines.join('\n'));
}
