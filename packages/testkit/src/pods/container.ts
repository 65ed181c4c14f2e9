import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CommandLine } from './runtime.ts';

/** So often a container that ends is started again; after that something is wrong, and waiting wouldn't help. */
const RESTARTS = 5;

/** A container that a kubelet keeps running: one that ends is started again. */
export class RunningContainer {
  readonly #commandLine: CommandLine;
  #child: ChildProcess;
  #output = '';
  #restarts = 0;
  #stopping = false;
  #stopped: Promise<void> | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(commandLine: CommandLine) {
    this.#commandLine = commandLine;
    this.#child = this.#start();
  }

  /** What it wrote so far, on either stream, through all restarts. */
  get output(): string {
    return this.#output;
  }

  /** How often it was started again. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Runs a program in the container, and returns its output.
   *
   * @throws {Error} with its stderr if it fails, or takes longer than `timeoutMs`
   */
  async exec(file: string, args: readonly string[], timeoutMs = 30_000): Promise<string> {
    const [command, commandArgs] = this.#commandLine.exec(Number(this.#child.pid), [file, ...args]);
    const { stdout } = await promisify(execFile)(command, commandArgs, {
      env: { ...this.#commandLine.env },
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    return stdout;
  }

  /** Whether it ended too often to be started again. */
  get isBroken(): boolean {
    return this.#restarts > RESTARTS;
  }

  /** Expects its end, whatever that is like: it isn't started again. */
  abandon(): void {
    this.#stopping = true;
  }

  /** Ends it: SIGTERM, and SIGKILL if that takes longer than `graceMs`. Idempotent: the first call counts. */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    if (this.isBroken) return;
    const ended = this.#ended.promise;
    if (graceMs > 0) {
      this.#child.kill('SIGTERM');
      await Promise.race([ended, delay(graceMs, undefined, { ref: false })]);
    }
    const { remove } = this.#commandLine;
    if (remove === undefined) this.#child.kill('SIGKILL');
    else await remove(ended);
    await ended;
  }

  #start(): ChildProcess {
    const { file, args, env } = this.#commandLine;
    const child = spawn(file, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    child.once('error', (error) => (this.#output += `${error.message}\n`));
    void once(child, 'close').then(
      () => this.#afterwards(),
      () => this.#afterwards(),
    );
    return child;
  }

  #afterwards(): void {
    if (!this.#stopping) {
      this.#restarts += 1;
      if (!this.isBroken) {
        this.#child = this.#start();
        return;
      }
    }
    this.#ended.resolve();
  }
}
