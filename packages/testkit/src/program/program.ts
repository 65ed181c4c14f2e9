import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { ask, type Place } from '@kube-semaphore/testnet';
import { freshScrapes } from './fresh-scrapes.ts';
import { NODE_COMPILE_CACHE, readLauncher } from './launcher.ts';
import { type Labels, seriesValue } from './metrics-text.ts';
import { slowness } from './slowness.ts';

/** One line of the JSON log. */
type LogLine = { readonly level: string; readonly msg: string; readonly [fact: string]: unknown };

/** How a process ended: with a code, or by a signal that it didn't handle. */
type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** One of our programs as a process. */
export type Program = {
  /** The pid of the process; only if it wasn't started in another place. */
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The lines of stderr that are JSON, so far. */
  readonly log: () => readonly LogLine[];
  /** Waits for a line with this message and these facts. */
  readonly logged: (msg: string, facts?: Readonly<Record<string, unknown>>) => Promise<LogLine>;
  /** Waits until /readyz answers 200. */
  readonly ready: () => Promise<void>;
  /** Requests a path of the health server. The log has all lines from before the answer; metrics and status are fresh. */
  readonly get: (
    path: '/healthz' | '/readyz' | '/metrics' | '/status',
  ) => Promise<{ readonly status: number; readonly body: string }>;
  /** What /status says. */
  readonly status: () => Promise<unknown>;
  /** The value of one series of /metrics; undefined if there is no such series. */
  readonly metric: (name: string, labels?: Labels) => Promise<number | undefined>;
  /** Resolves when the process is gone and its output complete. */
  readonly exited: Promise<Exit>;
  /** Sends a signal that doesn't end it. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR1') => void;
  /** Sends a signal, and returns how the process ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Exit>;
};

/** Where a program runs and logs. */
type ProgramOptions = {
  /** Where it runs, if not here; then the variables need a PATH. */
  readonly place?: Place | undefined;
  /** A file that gets a copy of its stderr. */
  readonly logFile?: string | undefined;
};

/** An interrupted test run doesn't wait for cleanup. */
const running = new Set<{ kill: (signal: NodeJS.Signals) => boolean }>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program with these arguments and variables, without the variables of the tests.
 *
 * @param file the program's launcher
 */
export function spawnProgram(
  file: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { place, logFile }: ProgramOptions = {},
): Program {
  const launcher = readLauncher(file);
  const slow = slowness();
  const words = [...launcher.flags, ...slow.flags, launcher.file, ...argv];
  const command =
    place === undefined ? ([process.execPath, words] as const) : place.commandLine(process.execPath, words);
  return startProgram(command, { ...launcher.env, ...slow.env, NODE_COMPILE_CACHE, ...env }, { place, logFile });
}

/**
 * Starts a process that runs one of our programs and passes signals on to it.
 *
 * @param place where the program's health server is, if not here
 */
export function startProgram(
  [file, args]: readonly [file: string, args: readonly string[]],
  env: NodeJS.ProcessEnv,
  { place, logFile }: ProgramOptions = {},
): Program {
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let stdout = '';
  let stderr = '';
  let gone = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (logFile !== undefined) appendFileSync(logFile, text);
  });
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    gone = true;
    running.delete(child);
    return { code: code as Exit['code'], signal: signal as Exit['signal'] };
  });

  const log = () => linesOf(stderr);
  const logged: Program['logged'] = (msg, facts = {}) =>
    eventually(
      () => {
        const line = log().find((each) => each.msg === msg && hasFacts(each, facts));
        if (line === undefined && gone) throw new Error(`ended without a line "${msg}":\n${stderr}`);
        return line;
      },
      isDefined,
      { what: `a line "${msg}" with ${JSON.stringify(facts)}` },
    );
  const askFor: Program['get'] = async (path) => {
    const { port } = await logged('started');
    const answer = await (place === undefined ? askHere(Number(port), path) : ask(place, Number(port), path));
    // The answer and older lines may arrive together, and are read in any order.
    await turn();
    return answer;
  };
  const fresh = {
    '/metrics': freshScrapes(() => askFor('/metrics')),
    '/status': freshScrapes(() => askFor('/status')),
  };
  const get: Program['get'] = (path) => (path === '/metrics' || path === '/status' ? fresh[path]() : askFor(path));
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    log,
    logged,
    async ready() {
      await eventually(async () => (await get('/readyz')).status === 200, true, { what: '/readyz to say 200' });
    },
    get,
    status: async () => JSON.parse((await get('/status')).body) as unknown,
    metric: async (name, labels = {}) => seriesValue((await get('/metrics')).body, name, labels),
    exited,
    signal: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

/** On a new connection, because the process may close a kept one at the moment of the request. */
async function askHere(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  return { status: response.status, body: await response.text() };
}

function linesOf(text: string): readonly LogLine[] {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return complete.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}

function hasFacts(line: LogLine, facts: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(facts).every(([name, value]) => line[name] === value);
}
