import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The calls of a program, as a stand-in saw them that is found in its place. */
export interface RecordedCalls {
  /** With the stand-in: to be put before the program's own folder in a PATH. */
  readonly folder: string;
  /** The arguments of each call that has begun since the last `take`, in no order. */
  take(): Promise<readonly (readonly string[])[]>;
}

/**
 * Makes a stand-in for a program: it writes down its arguments and becomes the program, which is looked up on the PATH of
 * this process.
 *
 * @param dir where its files may be; whoever made it removes it
 */
export async function recordCalls(program: string, dir: string): Promise<RecordedCalls> {
  const [folder, calls] = [join(dir, 'bin'), join(dir, 'calls')];
  await Promise.all([folder, calls].map((path) => mkdir(path, { recursive: true })));
  const file = join(folder, program);
  // A file for each call, as what a thousand peers take to name is no single write.
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
