import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command, Component, Report } from './protocol.ts';

const program = fileURLToPath(new URL('./supervisor.ts', import.meta.url));

/** A component that was started. */
export type Running = {
  /** Resolves with `exit code 1`, `SIGKILL` or why it couldn't be started. Never rejects. */
  readonly exited: Promise<string>;
  /** Resolves once it is gone. */
  kill(): Promise<void>;
};

/** The components of one cluster and the folder for their files, both of which go when this process does. */
export class Supervision {
  readonly dir: string;
  readonly #supervisor: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #exits = new Map<string, (reason: string) => void>();

  private constructor(supervisor: ChildProcess, dir: string) {
    this.dir = dir;
    this.#supervisor = supervisor;
    this.#gone = once(supervisor, 'exit').then(() => this.#afterwards());
    supervisor.on('message', (report: Report) => {
      if (report.type === 'exited') this.#settle(report.name, report.reason);
    });
  }

  /** Resolves when the folder is there. Like an open server, it keeps this process running until `stop()`. */
  static async start(): Promise<Supervision> {
    const supervisor = fork(program, {
      execPath: process.execPath,
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const first = await Promise.race([once(supervisor, 'message'), once(supervisor, 'exit')]);
    const report = first[0] as Report | number | null;
    if (typeof report !== 'object' || report?.type !== 'ready') throw new Error('the supervisor did not start');
    return new Supervision(supervisor, report.dir);
  }

  /** Starts a component. The names of those that run at the same time differ. */
  spawn(component: Component): Running {
    const { promise: exited, resolve } = Promise.withResolvers<string>();
    this.#exits.set(component.name, resolve);
    this.#send({ type: 'spawn', component });
    return {
      exited,
      kill: async () => {
        // Once it has exited, the name may be that of its successor.
        if (this.#exits.get(component.name) === resolve) this.#send({ type: 'kill', name: component.name });
        await exited;
      },
    };
  }

  /** Ends all components and removes the folder. Idempotent. */
  async stop(): Promise<void> {
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await this.#gone;
  }

  #send(command: Command): void {
    if (this.#supervisor.connected) this.#supervisor.send(command);
    else if (command.type === 'spawn') this.#settle(command.component.name, 'the supervisor is gone');
  }

  #settle(name: string, reason: string): void {
    this.#exits.get(name)?.(reason);
    this.#exits.delete(name);
  }

  /** What the supervisor leaves to do: everything, if somebody killed it with SIGKILL. */
  async #afterwards(): Promise<void> {
    const { pid, exitCode } = this.#supervisor;
    if (exitCode !== 0 && pid !== undefined) killGroup(pid);
    await rm(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    for (const name of this.#exits.keys()) this.#settle(name, 'the supervisor is gone');
  }
}

/** Components stay in the process group of the supervisor, which was its leader. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty, which is what we are after.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
