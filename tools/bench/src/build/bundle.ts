import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** CommonJS packages call `require`, which a module doesn't have. */
const banner = "const require=(await import('node:module')).createRequire(import.meta.url);";

/**
 * Bundles an app as its image has it, into `dist/<app>`: one file for what every start needs, others for what is
 * imported lazily (memory is counted, and code that is never run stays on disk), and the app's launcher, which is the
 * one from its `bin` and so has the same V8 flags.
 *
 * @returns the launcher's path
 */
export async function bundle(app: string, { root }: { root: string }): Promise<string> {
  const outdir = join(root, 'dist', app);
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: { main: join('apps', app, 'src', 'main.ts') },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minify: true,
    sourcemap: true,
    banner: { js: banner },
  });
  const name = `semaphore-${app}`;
  const launcher = await readFile(join(root, 'apps', app, 'bin', `${name}.js`), 'utf8');
  const path = join(outdir, `${name}.mjs`);
  await writeFile(path, repoint(launcher), { mode: 0o755 });
  return path;
}

/**
 * A launcher that starts the bundle and not the sources.
 *
 * @throws {Error} if it doesn't import the sources
 */
export function repoint(launcher: string): string {
  const source = "'../src/main.ts'";
  if (!launcher.includes(source)) throw new Error(`the launcher doesn't import ${source}`);
  return launcher.replace(source, "'./main.mjs'");
}
