import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** What is left of a cluster in `dir`: the folder, and the command lines of processes that name it. */
export async function remainsOf(dir: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
  const processes = stdout.split('\n').filter((line) => line.includes(dir));
  return existsSync(dir) ? [dir, ...processes] : processes;
}
