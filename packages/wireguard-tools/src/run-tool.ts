import { execa } from 'execa';
import { codeOf, speakable, WireGuardToolsError } from './errors.ts';

/** What every call takes. */
export type CallOptions = { readonly signal: AbortSignal };

/**
 * Runs a program to its end and returns what it wrote to standard output. Rejects with a WireGuardToolsError if the
 * program fails, and with the signal's reason when that is aborted. A parameter of what uses it, so that a test can
 * run the program in another place.
 */
export type RunTool = (file: string, args: readonly string[], options: CallOptions) => Promise<string>;

/** A call takes milliseconds, 5,000 peers 300 of them. Only a lock in the kernel, or a dead wireguard-go, takes longer. */
const DEADLINE_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TITLE_LENGTH = 80;

/** Runs programs of this machine, for ten seconds at most. */
export const runTool: RunTool = (file, args, options) => runFor(DEADLINE_MS, file, args, options);

/** Runs a program of this machine, and kills it after `deadlineMs`. */
export async function runFor(
  deadlineMs: number,
  file: string,
  args: readonly string[],
  { signal }: CallOptions,
): Promise<string> {
  signal.throwIfAborted();
  const result = await execa(file, args, {
    cancelSignal: signal,
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdin: 'ignore',
    // A host name would block for 72 s. Messages in English, as `codeOf` knows them.
    env: { WG_ENDPOINT_RESOLUTION_RETRIES: '0', WG_COLOR_MODE: 'never', LC_ALL: 'C' },
    reject: false,
  });
  if (!result.failed) return result.stdout;
  signal.throwIfAborted();
  const title = speakable([file, ...args].join(' '), TITLE_LENGTH);
  // Not as the `cause`: execa's error holds all that was written, and `wg show dump` writes private keys.
  if (result.timedOut) throw new WireGuardToolsError('WG_DEADLINE', `${title}: no answer within ${deadlineMs} ms`);
  if (result.code === 'ENOENT') throw new WireGuardToolsError('WG_NOT_INSTALLED', `${file} is not installed`);
  if (result.isMaxBuffer) throw new WireGuardToolsError('WG_OUTPUT', `${title}: the answer is over 64 MiB`);
  const words =
    result.stderr.trim() === '' ? (result.code ?? result.signal ?? `exit code ${result.exitCode}`) : result.stderr;
  throw new WireGuardToolsError(codeOf(words), `${title}: ${speakable(words)}`);
}
