import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Program } from '../measure/program.ts';

/** What a Node.js process holds after its garbage was collected. MB are 2^20 bytes. */
export type Holds = {
  readonly heapMb: number;
  /** Of buffers and of C++ objects that JavaScript keeps. */
  readonly externalMb: number;
  /** Names of active resources, such as Timeout. */
  readonly resources: readonly string[];
};

const program = fileURLToPath(new URL('./ask-inspector.ts', import.meta.url));

/** Opens an inspector, on any port. The launchers forbid only that a signal opens one. */
export const INSPECTED = 'NODE_OPTIONS=--inspect=127.0.0.1:0';

/**
 * Collects the garbage of a program that was started with {@link INSPECTED}, and asks what is left. The apps need no code for this.
 *
 * @param commandLine makes one that runs where the program runs
 */
export async function holdsOf(
  { log }: Program,
  commandLine: (command: readonly string[]) => readonly string[],
): Promise<Holds> {
  const [url] = /ws:\/\/\S+/.exec(await readFile(log, 'utf8')) ?? [];
  if (url === undefined) throw new Error('the program has no inspector');
  const [file = '', ...args] = commandLine([process.execPath, program, url]);
  const { stdout } = await promisify(execFile)(file, args);
  return JSON.parse(stdout) as Holds;
}
