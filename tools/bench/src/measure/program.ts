import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';

/** A program file and its arguments. */
export type Command = readonly [file: string, ...args: string[]];

/** A running program, the one that is measured. */
export type Program = {
  readonly pid: number;
  /** Just before exec, as `performance.now()` has it. */
  readonly startedAtMs: number;
  /** Aborted when the program ends by itself, with an Error that has the end of its log. */
  readonly signal: AbortSignal;
  /** SIGTERM, and SIGKILL to one that won't listen. Idempotent. */
  readonly stop: () => Promise<void>;
};

const STOP_TIMEOUT_MS = 10_000;
const LOG_LINES = 10;

/** Starts a program whose output goes to the file `log`. It ends with this process, too. */
export function startProgram([file, ...args]: Command, { log }: { log: string }): Program {
  const ended = new AbortController();
  const output = openSync(log, 'w');
  // Launchers look for "node" in PATH, and are to find the one that runs the bench.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const startedAtMs = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', output, output], env: { ...process.env, PATH } });
  closeSync(output);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);

  let stopping = false;
  const exited = exitOf(child).then(async (reason) => {
    process.off('exit', kill);
    if (!stopping) ended.abort(new Error(`${file} ended: ${reason}\n${await lastLines(log)}`));
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

/** How the process ended, or why it couldn't be started. */
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

/** What a phase waits for at most: the program's end, or a time. */
export function within(program: Program): AbortSignal {
  return AbortSignal.any([program.signal, AbortSignal.timeout(PHASE_TIMEOUT_MS)]);
}
