import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The calls of a program, as its stand-in recorded them. */
export interface RecordedCalls {
  /** The stand-in's folder, to put first in a PATH. */
  readonly folder: string;
  /** The arguments of each call that began since the last `take`, unordered. */
  take(): Promise<readonly (readonly string[])[]>;
}

/**
 * Creates a stand-in for a program: it records its arguments and becomes the program, which it finds on the PATH of
 * this process.
 *
 * @param dir a folder for its files, which the caller removes
 */
export async function recordCalls(program: string, dir: string): Promise<RecordedCalls> {
  const [folder, calls] = [join(dir, 'bin'), join(dir, 'calls')];
  await Promise.all([folder, calls].map((path) => mkdir(path, { recursive: true })));
  const file = join(folder, program);
  // One file for each call, because a call with a thousand peers isn't one write.
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${calls}'/$$\nPATH='${process.env['PATH']}'\nexec ${program} "$@"\n`;
  await writeFile(file, script);
  await chmod(file, 0o755);
  return {
    folder,
    take: async () => {
      const paths = (await readdir(calls)).map((name) => join(calls, name));
      const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
      await Promise.all(paths.map((path) => rm(path)));
      return texts.map((text) => text.split('\n').slice(0, -1));
    },
  };
}
