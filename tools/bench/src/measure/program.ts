import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';

/** The running program that is measured. */
export type Program = {
  readonly pid: number;
  /** The time just before exec, by `performance.now()`. */
  readonly startedAtMs: number;
  /** Aborted if the program exits unexpectedly, with an Error that has the end of its log. */
  readonly signal: AbortSignal;
  /** The file with its output. */
  readonly log: string;
  /** Stops it by SIGTERM, then SIGKILL. Idempotent. */
  readonly stop: () => Promise<void>;
};

const STOP_TIMEOUT_MS = 10_000;
const LOG_LINES = 10;

/** A program that is limited to 5 requests a second takes 200 s for 500 objects. */
const PHASE_TIMEOUT_MS = 600_000;

/** Starts a program whose output goes to the file `log`. It ends with this process, too. */
export function startProgram([file = '', ...args]: readonly string[], log: string): Program {
  const ended = new AbortController();
  const output = openSync(log, 'w');
  // Launchers search "node" in PATH, and must find the one of the bench.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const startedAtMs = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', output, output], env: { ...process.env, PATH } });
  closeSync(output);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);

  let stopping = false;
  const exited = once(child, 'exit')
    .then(
      ([code, signal]: (number | string | null)[]) => String(signal ?? `exit code ${code}`),
      (error: unknown) => (error as Error).message,
    )
    .then(async (reason) => {
      process.off('exit', kill);
      if (stopping) return;
      const lines = (await readFile(log, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES);
      ended.abort(new Error(`${file} exited: ${[reason, ...lines].join('\n')}`));
    });
  const stop = async () => {
    stopping = true;
    child.kill('SIGTERM');
    const timer = setTimeout(kill, STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  return { pid: child.pid ?? 0, startedAtMs, signal: ended.signal, log, stop };
}

/** The limit of a phase: the program's exit, or a timeout. */
export function within({ signal }: Program): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(PHASE_TIMEOUT_MS)]);
}
