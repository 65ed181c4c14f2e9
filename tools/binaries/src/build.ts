import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Recipe } from '@kube-semaphore/testkit';

const DAY_MS = 86_400_000;
const LOG_LINES = 20;

/** Whether the program `go` can be run with this PATH. */
export function hasGo(env: NodeJS.ProcessEnv): boolean {
  return spawnSync('go', ['version'], { env, stdio: 'ignore' }).error === undefined;
}

/**
 * Builds one tool. The file appears complete or not at all: it is written under another name beside it and then
 * renamed, so that a build that is killed, and two at once, do no harm.
 *
 * @throws {Error} with the last lines of the compiler when the build fails
 */
export async function build(
  { tool, moduleDir, args, file, data, files }: Recipe,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  await removeUnfinished(folder);
  const unfinished = join(folder, `.${basename(file)}.${randomUUID()}`);
  try {
    if (files === undefined) await go(['build', '-o', unfinished, ...args], moduleDir, env);
    else await concatenate(files, unfinished, (command) => go(command, moduleDir, env));
    if (data !== undefined) {
      const source = await go(['list', '-m', '-f', '{{.Dir}}', data.module], moduleDir, env);
      await copyFile(join(source.trim(), data.path), join(folder, basename(data.path)));
    }
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new Error(`building ${tool}`, { cause });
  }
}

/** Writes files of a Go module into one, without what the module imports. Executable, as whatever is built. */
async function concatenate(
  { module, paths }: NonNullable<Recipe['files']>,
  to: string,
  run: (args: readonly string[]) => Promise<string>,
): Promise<void> {
  const { Dir } = JSON.parse(await run(['mod', 'download', '-json', module])) as { Dir: string };
  const texts = await Promise.all(paths.map((path) => readFile(join(Dir, path), 'utf8')));
  await writeFile(to, texts.join('\n'), { mode: 0o755 });
}

/** Runs the program `go`. @returns what it wrote to standard output */
async function go(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('go', args, {
    cwd,
    // No C compiler is needed, and a go.work in a folder above doesn't count.
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, log, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code === 0) return output;
  const lines = log.trimEnd().split('\n').slice(-LOG_LINES);
  throw new Error([`go ${args[0]}: ${signal ?? `exit code ${code}`}`, ...lines].join('\n'));
}

/** Removes what builds left that were killed. A day is longer than any build that still runs. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.')) continue;
    const file = join(folder, name);
    // Another build may have renamed or removed it since.
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > DAY_MS) await rm(file, { force: true });
  }
}
