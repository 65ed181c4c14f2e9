/**
 * The process that owns the components of one real cluster and their folder. The test process forks it and holds the
 * other end of its channel. When that end closes, be it by `stop()` or because the test process was killed, whatever
 * way, everything goes. It runs in a session of its own, so that a Ctrl-C meant for the tests reaches it only through
 * the end of the channel; components never see it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enterCgroups, makeCgroups, removeCgroups } from './cgroups.ts';
import type { Command, Component, Report } from './protocol.ts';

// The name is short because it is part of the path of etcd's socket, and such a path has 107 characters at most.
const dir = mkdtempSync(join(tmpdir(), 'semaphore-'));
const running = new Map<string, ChildProcess>();
const ends = new Map<string, Promise<void>>();
let ending = false;

process.on('message', (command: Command) => {
  if (command.type === 'spawn') start(command.component);
  else running.get(command.name)?.kill('SIGKILL');
});
process.once('disconnect', end);
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, end);

// The test process may have died before anybody here listened for that.
if (process.connected) report({ type: 'ready', dir });
else end();

function start(component: Component): void {
  if (ending) return;
  try {
    run(component);
  } catch (error) {
    // Its control groups or its log can't be made.
    report({ type: 'exited', name: component.name, reason: (error as Error).message });
  }
}

function run({ name, file, args, log, cgroup }: Component): void {
  const cgroups = cgroup === undefined ? [] : makeCgroups(cgroup);
  const [command, commandArgs] = enterCgroups(cgroups, file, args);
  const output = openSync(log, 'a');
  // No variable of the test's environment may change what is tested: etcd reads ETCD_*, Go programs GODEBUG.
  const child = spawn(command, commandArgs, { cwd: dir, env: {}, stdio: ['ignore', output, output] });
  closeSync(output);
  running.set(name, child);
  ends.set(name, endOf(name, child, cgroups));
}

/** Resolves when a component and its control groups are gone, which is reported. */
async function endOf(name: string, child: ChildProcess, cgroups: readonly string[]): Promise<void> {
  const reason = await once(child, 'exit').then(
    ([code, signal]) => String(signal ?? `exit code ${code}`),
    (error: Error) => error.message,
  );
  running.delete(name);
  await removeCgroups(cgroups);
  report({ type: 'exited', name, reason });
}

function report(message: Report): void {
  if (!process.connected) return;
  // The channel may close in this moment; `disconnect` then says so.
  process.send?.(message, undefined, {}, () => {});
}

/** SIGKILL for all: there is nothing in their folder to be kept in order. */
function end(): void {
  if (ending) return;
  ending = true;
  for (const child of running.values()) child.kill('SIGKILL');
  void Promise.allSettled(ends.values()).then(() => {
    // The test process may still be writing a file here if it was the supervisor that got the signal.
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    process.exit(0);
  });
}
