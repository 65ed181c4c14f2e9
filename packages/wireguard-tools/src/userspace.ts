import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { speakable, WireGuardToolsError } from './errors.ts';
import { systemTools } from './system-tools.ts';

const DEADLINE_MS = 10_000;
const POLL_MS = 20;

/** How wireguard-go is started. */
export type UserspaceOptions = {
  readonly name: string;
  /** Where it writes its errors, which it does for as long as it runs. The file is appended to. */
  readonly logFile: string;
  /** The program. Default `wireguard-go`, from the PATH. */
  readonly program?: string;
  readonly signal: AbortSignal;
};

/** A wireguard-go that was started. */
export type UserspaceDevice = {
  readonly pid: number;
};

/**
 * Starts a wireguard-go and waits until its device answers `wg`. The device is as the kernel's would be: down, without
 * address and key, but with wireguard-go's MTU and without an alias. The process runs in a session of its own and
 * holds nothing of ours, so that its tunnels outlive this process, whichever way it ends. It ends when its device is
 * deleted.
 *
 * @throws {WireGuardToolsError} with its words if it ends, or doesn't answer within ten seconds; nothing is left then
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
  // A file and no pipe: a Go program dies of a pipe that nobody reads.
  const child = spawn(program, ['-f', name], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { ...process.env, LOG_LEVEL: 'error' },
  });
  const ended = endOf(child);
  await log.close();
  const asking = new AbortController();
  try {
    const attempt = AbortSignal.any([signal, asking.signal, AbortSignal.timeout(DEADLINE_MS)]);
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
    throw new WireGuardToolsError('WG_FAILED', `wireguard-go ${name}: ${words || speakable(String(error))}`);
  }
}

/** Resolves once the device speaks WireGuard and the kernel is told to give it no address of its own. */
async function answer(name: string, signal: AbortSignal): Promise<void> {
  const tools = systemTools();
  while ((await tools.device(name, { signal })) === undefined) await delay(POLL_MS, undefined, { signal });
  await tools.changeLink(name, { linkLocal: false }, { signal });
}

/** Resolves with why it ended, or couldn't be started. */
async function endOf(child: ChildProcess): Promise<WireGuardToolsError> {
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
    return new WireGuardToolsError('WG_FAILED', killedBy ?? `exit code ${code}`);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return new WireGuardToolsError(
      missing ? 'WG_NOT_INSTALLED' : 'WG_FAILED',
      missing ? 'wireguard-go is not installed' : speakable(String(error)),
    );
  }
}

/** The errors that were written since the file had `size` bytes, without the advertisement for the kernel's module. */
async function errorsIn(logFile: string, size: number): Promise<string> {
  const text = (await readFile(logFile)).subarray(size).toString('utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('ERROR: '));
  return speakable(lines.join('\n'));
}
