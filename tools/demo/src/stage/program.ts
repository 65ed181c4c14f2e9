import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Place } from '@kube-semaphore/testnet';
import { untilAborted } from '../interruption.ts';
import { readLauncher } from './launcher.ts';

const fileOf = (path: string) => fileURLToPath(new URL(`../../../../apps/${path}`, import.meta.url));
/** The launchers of our programs, as the workspace has them. */
const launchers = {
  'semaphore-policy': fileOf('policy/bin/semaphore-policy.js'),
  'semaphore-service-mirror': fileOf('service-mirror/bin/semaphore-service-mirror.js'),
  'semaphore-wireguard': fileOf('wireguard/bin/semaphore-wireguard.js'),
};

/** How to start one of our programs. */
export type Invocation = {
  /** As its users call it. */
  readonly program: keyof typeof launchers;
  /** A subcommand. */
  readonly word?: string;
  /** Names without dashes to values; `true` is a flag that stands alone. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** The machine that it runs on, if not this one. */
  readonly place?: Place;
  /** PATH, by which it finds the programs that it runs, if it does. */
  readonly path?: string;
};

/** How a subcommand ended, and what it printed; with what it complained of, if it failed. */
export type WordResult = { readonly code: number | null; readonly lines: readonly string[] };

/** Starts it. The process is the program itself, wherever it runs. */
export function spawnProgram({ program, word, flags, place, path }: Invocation, stdio: StdioOptions): ChildProcess {
  const file = launchers[program];
  const [firstLine = ''] = readFileSync(file, 'utf8').split('\n', 1);
  const { env, execArgv } = readLauncher(firstLine);
  const flagWords = Object.entries(flags).flatMap(([name, value]) => (value === true ? [`-${name}`] : [`-${name}`, value]));
  const words = [...execArgv, file, ...(word === undefined ? [] : [word]), ...flagWords];
  const [command, args] = place === undefined ? [process.execPath, words] : place.commandLine(process.execPath, words);
  return spawn(command, args, {
    // Nothing of the user's environment may change what is shown: not a proxy, and none of the app's variables.
    env: { ...env, ...(path !== undefined && { PATH: path }) },
    // In a session of its own a Ctrl-C doesn't reach it: the demo ends it, and not before it has to.
    detached: true,
    stdio,
  });
}

/** Runs a subcommand to its end, or until the demo stops. */
export async function runWord(invocation: Invocation & { readonly word: string }, { signal }: { signal: AbortSignal }): Promise<WordResult> {
  const child = spawnProgram(invocation, ['ignore', 'pipe', 'pipe']);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  try {
    const ended = Promise.all([text(stdout), text(stderr), once(child, 'close')]);
    const [output, words, [code]] = await untilAborted(ended, signal);
    return { code: code as number | null, lines: (code === 0 ? output : `${output}${words}`).trimEnd().split('\n') };
  } finally {
    child.kill('SIGKILL');
  }
}
