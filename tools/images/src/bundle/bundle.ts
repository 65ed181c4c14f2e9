import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
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

/** The programs of a cluster, each the folder of an app. */
export const controllers = ['policy', 'service-mirror', 'wireguard'] as const;

/** All programs: those of a cluster, and that of the operator. */
export const apps = [...controllers, 'cli'] as const;

export type App = (typeof apps)[number];

/** The controllers are loaded in parts, which saves memory. */
const inParts = {
  outExtension: { '.js': '.mjs' },
  splitting: true,
  format: 'esm',
  banner: { js: banner },
  plugins: [builtins],
} as const satisfies BuildOptions;

/** Puts the page of `semaphore ui` into the program, which makes it itself only when it runs from its sources. */
const page = (root: string, onMade: (metafile: Metafile) => void): Plugin => ({
  name: 'page',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/cli\/src\/ui\/files\.ts$/ }, async ({ path }) => {
      const { buildPage } = (await import(path)) as {
        buildPage: (folder: string, tools: object) => Promise<{ files: object; metafile: Metafile }>;
      };
      const { files, metafile } = await buildPage(join(dirname(path), 'page'), { build, root });
      onMade(metafile);
      return { contents: `export const pageFiles = async () => (${JSON.stringify(files)});` };
    });
  },
});

/** Puts the manifests of `deploy/` into the program, which reads them itself only when it runs from its sources. */
const manifests = (root: string): Plugin => ({
  name: 'manifests',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/cli\/src\/link\/files\/manifests\.ts$/ }, async ({ path }) => {
      const { readManifests } = (await import(path)) as { readManifests: (deploy: string) => Promise<object> };
      const files = JSON.stringify(await readManifests(join(root, 'deploy')));
      return { contents: `export const manifests = async () => new Map(${files});` };
    });
  },
});

/** The program of the operator is one file, which Node.js can also run from inside its own executable. */
const inOneFile = {
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
} as const satisfies BuildOptions;

/** The paths of a program in its image, besides `/semaphore-<app>`, as in the Go programs' images. */
const olderPaths: Readonly<Partial<Record<App, readonly string[]>>> = { policy: ['kube-policy-semaphore'] };

/** The commands of an app, in its image at the top. */
export const commandsOf = (app: App): readonly [string, ...string[]] =>
  app === 'cli' ? ['semaphore', 'kubectl-semaphore'] : [`semaphore-${app}`, ...(olderPaths[app] ?? [])];

type BundleOptions = { readonly root: string; readonly epoch?: number | undefined };

/**
 * Bundles an app into `dist/<app>`, which its image adds to a base with Node.js. Below `usr/local/lib/semaphore-<app>` is the
 * code of {@link bundleCode}. Links to the launcher are at the top. That of `cli` is an npm package, too. The bill of
 * materials is at `bomPath`.
 *
 * @param root the workspace
 * @param epoch SOURCE_DATE_EPOCH in seconds, for the bill of materials
 * @returns the launcher's path
 */
export async function bundle(app: App, { root, epoch }: BundleOptions): Promise<string> {
  const name = `semaphore-${app}`;
  const image = join(root, 'dist', app);
  const outdir = join(image, 'usr', 'local', 'lib', name);
  await rm(image, { recursive: true, force: true });
  const { launcher, metafile } = await bundleCode(app, { root, outdir });
  if (app === 'cli') await writePackage(outdir, { root, file: basename(launcher) });
  for (const link of commandsOf(app)) await symlink(relative(image, launcher), join(image, link));
  const bom = bomPath(root, name);
  await mkdir(dirname(bom), { recursive: true });
  await writeFile(bom, await bomOf(name, metafile, { root, epoch }));
  return launcher;
}

/**
 * Bundles the code of an app into a folder of its own, which goes when this process ends: programs of other processes start
 * from theirs.
 *
 * @returns the launcher's path
 */
export async function bundleForThisProcess(app: App, { root }: { readonly root: string }): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), `semaphore-${app}-`));
  process.once('exit', () => rmSync(outdir, { recursive: true }));
  return (await bundleCode(app, { root, outdir })).launcher;
}

/** The path of an app's launcher in the sources. */
export const launcherOf = (app: App): string => join('apps', app, 'bin', `${commandsOf(app)[0]}.js`);

/**
 * Bundles the code of an app: the launcher with the V8 flags of its `bin`, and source maps without sources. A controller has
 * one file for the code that every start needs, and others for lazy imports; `cli` is one file. The same sources make the
 * same bytes in every folder.
 *
 * @param outdir the folder for the files
 * @returns the launcher's path, and what went into the files
 */
export async function bundleCode(
  app: App,
  { root, outdir }: { readonly root: string; readonly outdir: string },
): Promise<{ readonly launcher: string; readonly metafile: Metafile }> {
  const [command] = commandsOf(app);
  const launcher = join(outdir, `${command}.${app === 'cli' ? 'c' : 'm'}js`);
  const outputs: Metafile['outputs'] = {};
  const { metafile } = await build({
    ...(app === 'cli'
      ? {
          ...inOneFile,
          entryPoints: { [command]: launcherOf(app) },
          plugins: [page(root, (made) => Object.assign(outputs, made.outputs)), manifests(root)],
        }
      : { ...inParts, entryPoints: { main: join('apps', app, 'src', 'main.ts') } }),
    absWorkingDir: root,
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
  });
  if (app === 'cli') await chmod(launcher, 0o755);
  else await writeFile(launcher, repoint(await readFile(join(root, launcherOf(app)), 'utf8')), { mode: 0o755 });
  return { launcher, metafile: { ...metafile, outputs: { ...metafile.outputs, ...outputs } } };
}

/** Makes a folder a package, which `npx` and `npm install` take without any other. */
async function writePackage(folder: string, { root, file }: { root: string; file: string }): Promise<void> {
  const { version, license, bin } = await readJson<{ version: string; license: string; bin: object }>(
    join(root, 'apps', 'cli', 'package.json'),
  );
  const packed = {
    name: 'kube-semaphore',
    version,
    description: 'Links Kubernetes clusters, and shows how they are linked.',
    license,
    engines: { node: '>=24' },
    bin: Object.fromEntries(Object.keys(bin).map((command) => [command, file])),
    files: [file],
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
}

const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

/** The path of the bill of materials of a bundle or an image. */
export const bomPath = (root: string, product: string): string => join(root, 'dist', 'sbom', `${product}.cdx.json`);

type BomOptions = { readonly root: string; readonly epoch: number | undefined };

async function bomOf(name: string, metafile: Metafile, { root, epoch }: BomOptions): Promise<string> {
  const { version } = await readJson<{ version: string }>(join(root, 'package.json'));
  const lock = await readJson<Lock>(join(root, 'package-lock.json'));
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
