import { writeFileSync } from 'node:fs';

/** Which parts of its memory a process leaves to a core dump, one bit each (core(5)). */
const FILTER = '/proc/self/coredump_filter';

/**
 * Keeps this process' memory, and that of the programs that it runs from now on, out of core dumps: keys and tokens are in it.
 * A limit of a core's size (RLIMIT_CORE) can't be set from here, and doesn't count where the kernel pipes cores to a program.
 *
 * @returns why it can't be done; undefined if it is, or if this system has no such filter and so isn't Linux
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
