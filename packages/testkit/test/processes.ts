import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The command lines of the processes that have `text` in them, zombies aside. */
export async function commandLines(text: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
  return stdout.split('\n').filter((line) => line.includes(text));
}
