import { execa } from 'execa';
import { codeOf, loggable, WireGuardToolsError } from './errors.ts';

export type CallOptions = { readonly signal: AbortSignal };

/**
 * Runs a program, and returns its standard output. Rejects with a WireGuardToolsError if the program fails, and with the
 * signal's reason when that is aborted. Tests replace it, to run the program in another place.
 */
export type RunTool = (file: string, args: readonly string[], options: CallOptions) => Promise<string>;

/** A call takes milliseconds; for 5,000 peers 300. Only a kernel lock or a dead wireguard-go takes longer. */
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TITLE_LENGTH = 80;

/** Runs programs of this machine, with a timeout of ten seconds. */
export const runTool: RunTool = (file, args, options) => runFor(TIMEOUT_MS, file, args, options);

/** Runs a program of this machine, and kills it after `timeoutMs`. */
export async function runFor(
  timeoutMs: number,
  file: string,
  args: readonly string[],
  { signal }: CallOptions,
): Promise<string> {
  signal.throwIfAborted();
  const result = await execa(file, args, {
    cancelSignal: signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdin: 'ignore',
    // A host name would block for 72 s. `codeOf` reads English messages.
    env: { WG_ENDPOINT_RESOLUTION_RETRIES: '0', WG_COLOR_MODE: 'never', LC_ALL: 'C' },
    reject: false,
  });
  if (!result.failed) return result.stdout;
  signal.throwIfAborted();
  const title = loggable([file, ...args].join(' '), TITLE_LENGTH);
  // Without a `cause`: execa's error contains all output, and `wg show dump` writes private keys.
  if (result.timedOut) throw new WireGuardToolsError('WG_DEADLINE', `${title}: no answer within ${timeoutMs} ms`);
  if (result.code === 'ENOENT') throw new WireGuardToolsError('WG_NOT_INSTALLED', `${file} is not installed`);
  if (result.isMaxBuffer) throw new WireGuardToolsError('WG_OUTPUT', `${title}: the answer is over 64 MiB`);
  const words =
    result.stderr.trim() === '' ? (result.code ?? result.signal ?? `exit code ${result.exitCode}`) : result.stderr;
  throw new WireGuardToolsError(codeOf(words), `${title}: ${loggable(words)}`);
}
