import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const LOG_LINES = 20;

/** A program and its arguments. */
export type Command = readonly [file: string, ...args: string[]];

/**
 * Runs a program to its end, without input.
 *
 * @param env variables, added to our own
 * @returns its standard output
 * @throws {Error} with the last lines of its output, unless it exits with 0
 */
export async function run([file, ...args]: Command, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code === 0) return stdout;
  const lines = `${stdout}${stderr}`.trimEnd().split('\n').slice(-LOG_LINES);
  throw new Error([`${file}: ${signal ?? `exit code ${code}`}`, ...lines].join('\n'));
}

/** Whether a program exists and exits with 0. */
export async function works(command: Command): Promise<boolean> {
  try {
    await run(command);
    return true;
  } catch {
    return false; // Missing or broken: we can't use it.
  }
}
