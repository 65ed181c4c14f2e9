import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually, type WaitOptions } from '@kube-semaphore/eventually';
import type { ElectorOptions } from './elector.ts';

const main = fileURLToPath(new URL('replica-main.ts', import.meta.url));

/** Starts a replica as a process, for signals. */
export function spawnReplica(options: ElectorOptions) {
  const child = spawn(process.execPath, [main, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (signal: NodeJS.Signals): boolean => child.kill(signal);
  // A test run that is interrupted doesn't clean up.
  const onExit = (): boolean => kill('SIGKILL');
  process.once('exit', onExit);
  const exited = once(child, 'close').then(([code]) => {
    process.off('exit', onExit);
    return code as number | null;
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  return {
    identity: options.identity,
    /** Its output, oldest line first. */
    lines,
    said: (line: string, wait: WaitOptions = {}) =>
      eventually(() => lines.includes(line), true, { what: `${options.identity} says ${line}`, ...wait }),
    kill,
    /** The exit code; null if a signal ended it. */
    exited,
    async stop(): Promise<void> {
      kill('SIGKILL');
      await exited;
    },
  };
}
