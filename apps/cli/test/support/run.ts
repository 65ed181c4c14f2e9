import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@kube-semaphore/testkit';
import { onTestFinished, vi } from 'vitest';
import { runProgram } from '../../src/program.ts';

const launcher = fileURLToPath(new URL('../../bin/semaphore.js', import.meta.url));

/** Starts the program, without a kubeconfig of the machine. */
export const start = (...argv: readonly string[]) => startWith({}, ...argv);

/** Starts the program with variables. */
export const startWith = (env: Readonly<Record<string, string>>, ...argv: readonly string[]) =>
  spawnProgram(launcher, argv, { HOME: '/dev/null', ...env });

/** Runs the program to its end. */
export const run = (...argv: readonly string[]) => runWith({}, ...argv);

/** Runs the program with variables to its end. */
export async function runWith(env: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  const program = startWith(env, ...argv);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** A terminal in memory, and what is written there. */
export function terminalInMemory() {
  const written = { stdout: '', stderr: '' };
  const terminal = {
    print: (text: string) => void (written.stdout += text),
    complain: (text: string) => void (written.stderr += text),
    isInteractive: false,
    paint: (_: string, text: string) => text,
    whileWaiting: async <T>(_: string, work: Promise<T>) => work,
  };
  return { written, terminal };
}

/** The same in this process, which needs no second to start. */
export async function runHere(env: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  for (const [name, value] of Object.entries({ HOME: '/dev/null', KUBECONFIG: '', ...env })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { written, terminal } = terminalInMemory();
  const code = await runProgram(argv, { name: 'semaphore', terminal, signal: new AbortController().signal });
  return { code, ...written };
}

/** What a command that writes did, without the contexts that it named first. Fails if it named none. */
export function afterContexts<T extends { readonly code: number | null; readonly stderr: string }>(ended: T): T {
  const [named = ''] = /^(?:context .*\n)*/.exec(ended.stderr) ?? [];
  // Wrong usage may end it before.
  if (ended.code !== 2 && !/^context \S+: https:\/\/\S+, as the user "/.test(named))
    throw new Error(`it names no context: ${ended.stderr}`);
  return { ...ended, stderr: ended.stderr.slice(named.length) };
}
