import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';

/** A program file and its arguments. */
export type Command = readonly [file: string, ...args: string[]];

/** The running program that is measured. */
export type Program = {
  readonly pid: number;
  /** The time just before exec, by `performance.now()`. */
  readonly startedAtMs: number;
  /** Aborted if the program exits unexpectedly, with an Error that has the end of its log. */
  readonly signal: AbortSignal;
  /** Stops it by SIGTERM, then SIGKILL. Idempotent. */
  readonly stop: () => Promise<void>;
};

const STOP_TIMEOUT_MS = 10_000;
const LOG_LINES = 10;

/** Starts a program whose output goes to the file `log`. It ends with this process, too. */
export function startProgram([file, ...args]: Command, { log }: { log: string }): Program {
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
  const exited = exitOf(child).then(async (reason) => {
    process.off('exit', kill);
    if (!stopping) ended.abort(new Error(`${file} exited: ${reason}\n${await lastLines(log)}`));
  });
  return {
    pid: child.pid ?? 0,
    startedAtMs,
    signal: ended.signal,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(kill, STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The exit of the process, or why it couldn't start. */
async function exitOf(child: ReturnType<typeof spawn>): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal ?? `exit code ${code}`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function lastLines(log: string): Promise<string> {
  return (await readFile(log, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}

/** A program that is limited to 5 requests a second takes 200 s for 500 objects. */
const PHASE_TIMEOUT_MS = 600_000;

/** The limit of a phase: the program's exit, or a timeout. */
export function within(program: Program): AbortSignal {
  return AbortSignal.any([program.signal, AbortSignal.timeout(PHASE_TIMEOUT_MS)]);
}
