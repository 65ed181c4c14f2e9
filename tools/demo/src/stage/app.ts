import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { type Invocation, spawnProgram } from './program.ts';

/** What to start. */
export type AppOptions = Omit<Invocation, 'word'> & {
  /** The cluster that it belongs to. */
  readonly cluster: string;
  /** Which of several that share a Lease; without it, it is the only one. */
  readonly replica?: 'first' | 'second';
  /** The file for what it logs. */
  readonly log: string;
  /** Called if it ends without having been asked to. */
  readonly onDeath: (error: Error) => void;
};

/** The apps promise to end within 5 s of SIGTERM, and have nothing to do here that takes so long. */
const STOP_MS = 2_000;
const READY_MS = 30_000;
/** Between two questions whether it is ready; on another machine each takes processes of its own. */
const POLL_MS = { here: 5, elsewhere: 50 } as const;
const TAIL_LINES = 15;

/** Asks the port `$0` of another machine, which `fetch` doesn't reach, for the path `$1`. */
const ASK = 'exec 3<>/dev/tcp/127.0.0.1/$0 && printf "GET $1 HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3';

/** One of our programs, running as a process of its own. */
export class App {
  readonly #options: AppOptions;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #startedMs = performance.now();
  #url: string | undefined;
  #stopping = false;

  private constructor(options: AppOptions, child: ChildProcess) {
    this.#options = options;
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    const ended = (how: string) => {
      resolve();
      if (!this.#stopping) options.onDeath(new Error(`${this.title} ended by itself: ${how}`));
    };
    child.once('error', ({ message }) => ended(message));
    child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
  }

  static start(options: AppOptions): App {
    return new App(options, spawnToLog(options));
  }

  get title(): string {
    const { program, cluster, replica } = this.#options;
    return `${program} of ${cluster}${replica === undefined ? '' : `, ${replica} replica`}`;
  }

  /** What it was started with. */
  get options(): AppOptions {
    return this.#options;
  }

  /** False as soon as it was asked to end. */
  get isRunning(): boolean {
    return !this.#stopping;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * What it serves its health and metrics at, on the machine that it runs on.
   *
   * @throws {Error} before `ready()` has resolved
   */
  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.title} is not ready yet`);
    return this.#url;
  }

  /** The file that it logs to. */
  get log(): string {
    return this.#options.log;
  }

  /**
   * A command that prints its metrics.
   *
   * @throws {Error} before `ready()` has resolved
   */
  get metricsCommand(): string {
    const { place } = this.#options;
    const args = ['-s', `${this.url}/metrics`];
    return (place?.commandLine('curl', args) ?? ['curl', args]).flat().join(' ');
  }

  /** How a user would start it, in lines. */
  get command(): string[] {
    return commandLines(this.#options.program, this.#options.flags);
  }

  /**
   * Waits until it reports to be ready.
   *
   * @returns how long it took since the process was started, in ms
   */
  async ready({ signal }: { signal: AbortSignal }): Promise<number> {
    const { port } = await this.logged('started', { signal });
    const url = `http://127.0.0.1:${String(port)}`;
    await eventually(
      () => this.#isReady(url, signal),
      true,
      { what: `${this.title} to be ready`, timeoutMs: READY_MS, intervalMs: this.#options.place === undefined ? POLL_MS.here : POLL_MS.elsewhere },
    );
    this.#url = url;
    return performance.now() - this.#startedMs;
  }

  /** Waits for a line of its log with this message, and returns the line's facts. */
  logged(message: string, { signal }: { signal: AbortSignal }): Promise<Readonly<Record<string, unknown>>> {
    return eventually(async () => {
      signal.throwIfAborted();
      const lines = (await readFile(this.log, 'utf8')).split('\n').slice(0, -1);
      // Not every line is JSON: a program that can't start says so in plain words.
      const line = lines.find((each) => each.includes(`"msg":"${message}"`));
      return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
    }, isDefined, { what: `${this.title} to log "${message}"`, timeoutMs: READY_MS, intervalMs: 5 });
  }

  /** The last lines of its log. */
  async logTail(): Promise<string[]> {
    return (await readFile(this.log, 'utf8')).trimEnd().split('\n').slice(-TAIL_LINES);
  }

  /** Ends it as Kubernetes would, but with less patience. Idempotent; never rejects. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await this.#gone;
    clearTimeout(timer);
  }

  /** Ends it as a crash would: it gets no time to tell anybody. */
  async kill(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  async #isReady(url: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const { place } = this.#options;
    if (place === undefined) return (await fetch(`${url}/readyz`, { signal })).ok;
    const answer = await place.run('bash', ['-c', ASK, new URL(url).port, '/readyz']);
    return answer.split(' ', 2)[1] === '200';
  }
}

/** A command with its flags as a shell takes it, one flag a line. */
export function commandLines(command: string, flags: AppOptions['flags']): string[] {
  const lines = Object.entries(flags).map(([name, value]) => `    -${name}${value === true ? '' : ` ${value}`}`);
  return [command, ...lines].map((line, index) => (index < lines.length ? `${line} \\` : line));
}

function spawnToLog(options: AppOptions): ChildProcess {
  const output = openSync(options.log, 'a');
  try {
    return spawnProgram(options, ['ignore', output, output]);
  } finally {
    closeSync(output);
  }
}
