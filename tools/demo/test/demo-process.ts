import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { clusterKind } from '@kube-semaphore/testkit';
import { expect, onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** How a demo ended, and all that it printed. */
type End = { readonly code: number | null; readonly signal: string | null; readonly output: string };

/** A demo as its users start it, on clusters of the kind that the suite runs on, in a folder of its own. */
export class DemoProcess {
  readonly child: ChildProcess;
  /** Where it puts its temporary files. */
  readonly dir: string;
  readonly ended: Promise<End>;
  /** What it printed so far, on either stream. */
  output = '';

  private constructor(child: ChildProcess, dir: string) {
    this.child = child;
    this.dir = dir;
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output: this.output }));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  /** Without another PATH, as on a machine without `wg`, where no tunnel can be had. The end of the test ends it. */
  static async start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<DemoProcess> {
    const dir = await mkdtemp(join(tmpdir(), 'demo-'));
    const kind = clusterKind() === 'real' ? ['--real'] : [];
    // vitest's own variables would switch colours on.
    const { HOME, XDG_CACHE_HOME, KUBEBUILDER_ASSETS } = process.env;
    const child = spawn(process.execPath, [main, ...kind, ...args], {
      env: { PATH: '/nonexistent', HOME, XDG_CACHE_HOME, KUBEBUILDER_ASSETS, TMPDIR: dir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, as a shell gives it to what it starts.
      detached: true,
    });
    const demo = new DemoProcess(child, dir);
    onTestFinished(() => demo.#dispose());
    return demo;
  }

  /** Sends a signal as a terminal does: to the demo, and to the processes that it has started in its group. */
  signal(name: NodeJS.Signals): void {
    process.kill(-Number(this.child.pid), name);
  }

  /** Resolves once it has printed `text`. */
  async says(text: string): Promise<void> {
    await eventually(() => this.output.includes(text), true, { what: `"${text}" in the output` });
  }

  /** Command lines of the processes that have files of this demo among their arguments. */
  async processes(): Promise<string[]> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,args=']);
    return stdout.split('\n').filter((line) => line.includes(this.dir));
  }

  /** Files and processes that there are of it. */
  async remains(): Promise<string[]> {
    return [...(await readdir(this.dir)), ...(await this.processes())];
  }

  /** Supervisors of real clusters clean up when the demo is gone already, if it was in a hurry. */
  leavesNothing(): Promise<void> {
    return eventually(() => this.remains(), []);
  }

  /** Ends it however that goes, for tests that failed half-way. */
  async #dispose(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The end of an interrupted demo. */
export const stopped = { code: 0, signal: null, output: expect.stringMatching(/\nStopping\.\n$/) };

/** Interrupts a demo when it says a text. Returns how it ended. @throws if it leaves anything */
export async function interruptAt(text: string, signal: NodeJS.Signals): Promise<End> {
  // With --keep, it runs until it is interrupted.
  const demo = await DemoProcess.start(['--keep']);
  await demo.says(text);
  demo.signal(signal);
  // npm forwards a Ctrl-C like this.
  demo.child.kill(signal);
  const end = await demo.ended;
  await demo.leavesNothing();
  return end;
}
