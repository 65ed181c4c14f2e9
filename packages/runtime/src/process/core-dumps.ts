import { writeFileSync } from 'node:fs';

/** Which parts of the memory of a process are in its core dump, one bit each (core(5)). */
const FILTER = '/proc/self/coredump_filter';

/**
 * Keeps the memory of this process, and of the programs that it starts later, out of core dumps: it has keys and tokens.
 * Node.js can't limit the size of a core (RLIMIT_CORE), and the kernel ignores that limit if it pipes cores to a program.
 *
 * @returns why it failed; undefined if it didn't, or if this system has no such filter, and so isn't Linux
 */
export function keepMemoryFromCoreDumps(file = FILTER): NodeJS.ErrnoException | undefined {
  try {
    writeFileSync(file, '0', { flag: 'r+' });
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    return failure.code === 'ENOENT' ? undefined : failure;
  }
  return undefined;
}
