import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { renderBom } from '../bom/bom.ts';
import { type Lock, npmComponents } from '../bom/npm.ts';

/** CommonJS packages call `require`, which a module doesn't have. */
const banner = "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/**
 * Takes only what is used from Node.js' modules. A real import reads each export, and some of those load other modules:
 * `util` loads `worker_threads`. That costs 0.8 MB, and 1.4 MB with execa.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'builtin' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      const exported = names.map((name) => `export const ${name} = /* @__PURE__ */ $get('${name}');`);
      const start = `const $module = process.getBuiltinModule('${path}'), $get = (name) => $module[name];`;
      return { contents: [start, 'export default $module;', ...exported].join('\n') };
    });
  },
};

/** The programs, each the folder of an app. */
export const apps = ['policy', 'service-mirror', 'wireguard'] as const;

export type App = (typeof apps)[number];

/** Further paths of a program in its image, besides `/semaphore-<app>`, as in the Go programs' images. */
const olderPaths: Readonly<Partial<Record<App, readonly string[]>>> = { policy: ['kube-policy-semaphore'] };

/**
 * Bundles an app into `dist/<app>`, which its image adds to a base with Node.js. Below `usr/local/lib/semaphore-<app>` are
 * one file for the code that every start needs, others for lazy imports (which saves memory), source maps without sources,
 * and the app's launcher, with the V8 flags of its `bin`. Links to the launcher are at the top. The same sources make the
 * same bytes in every folder. The bill of materials is at `bomPath`.
 *
 * @param root the workspace
 * @param epoch SOURCE_DATE_EPOCH in seconds, for the bill of materials
 * @returns the launcher's path
 */
export async function bundle(app: App, { root, epoch }: { root: string; epoch?: number | undefined }): Promise<string> {
  const name = `semaphore-${app}`;
  const image = join(root, 'dist', app);
  const outdir = join(image, 'usr', 'local', 'lib', name);
  await rm(image, { recursive: true, force: true });
  const { metafile } = await build({
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
    sourcesContent: false,
    metafile: true,
    banner: { js: banner },
    plugins: [builtins],
  });
  const launcher = await readFile(join(root, 'apps', app, 'bin', `${name}.js`), 'utf8');
  const path = join(outdir, `${name}.mjs`);
  await writeFile(path, repoint(launcher), { mode: 0o755 });
  for (const link of [name, ...(olderPaths[app] ?? [])]) await symlink(relative(image, path), join(image, link));
  const bom = bomPath(root, name);
  await mkdir(dirname(bom), { recursive: true });
  await writeFile(bom, await bomOf(name, metafile, { root, epoch }));
  return path;
}

/** The path of the bill of materials of a bundle or an image. */
export const bomPath = (root: string, product: string): string => join(root, 'dist', 'sbom', `${product}.cdx.json`);

type BomOptions = { readonly root: string; readonly epoch: number | undefined };

async function bomOf(name: string, metafile: Metafile, { root, epoch }: BomOptions): Promise<string> {
  const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(root, file), 'utf8')) as T;
  const { version } = await read<{ version: string }>('package.json');
  const lock = await read<Lock>('package-lock.json');
  const subject = { type: 'application', name, version, licenses: [{ license: { id: 'Apache-2.0' } }] } as const;
  return renderBom(subject, npmComponents(metafile, lock), { epoch });
}

/**
 * A launcher that starts the bundle instead of the sources.
 *
 * @throws {Error} if it doesn't import the sources
 */
export function repoint(launcher: string): string {
  const source = "'../src/main.ts'";
  if (!launcher.includes(source)) throw new Error(`the launcher doesn't import ${source}`);
  return launcher.replace(source, "'./main.mjs'");
}
