import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeExecutable, type Target } from '../executable/executable.ts';
import { apps, bomPath, bundle, controllers } from './bundle.ts';

const run = promisify(execFile);
const workspace = fileURLToPath(new URL('../../../../', import.meta.url));

type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly [mark in 'dev' | 'devOptional' | 'optional' | 'link']?: boolean }>
  >;
};

let dir = '';
/** Two folders with the same sources, and the bundles of all apps. */
let places: readonly string[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bundle-'));
  const archive = join(dir, 'workspace.tar');
  await pack(archive);
  places = [join(dir, 'a'), join(dir, 'another', 'place')];
  await Promise.all(
    places.map(async (root) => {
      await mkdir(root, { recursive: true });
      await run('tar', ['-C', root, '-xf', archive]);
      for (const app of apps) await bundle(app, { root });
    }),
  );
});
afterAll(() => rm(dir, { recursive: true }));

/** Packs the inputs of a bundle: our sources, the manifests, and the npm packages that aren't only for development. */
async function pack(archive: string): Promise<void> {
  const sources = globSync(
    ['{apps,packages}/*/{src,bin,package.json}', 'deploy', '{package,package-lock,tsconfig,tsconfig.base}.json'],
    { cwd: workspace },
  );
  const links = globSync('node_modules/@kube-semaphore/*', { cwd: workspace });
  const { packages } = JSON.parse(await readFile(join(workspace, 'package-lock.json'), 'utf8')) as Lock;
  const installed = Object.keys(packages).filter((path) => {
    const { dev, devOptional, optional, link } = packages[path] ?? {};
    return path.startsWith('node_modules/') && !dev && !devOptional && !optional && !link;
  });
  const needless = ['--exclude=*.d.ts', '--exclude=node_modules/*.map'];
  await run('tar', ['-C', workspace, '-cf', archive, ...needless, ...sources, ...links, ...installed]);
}

/** Each path below a folder, with its mode, and a hash of the file or the target of the link. */
async function contentsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = globSync('**', { cwd: folder }).map(async (path): Promise<[string, string]> => {
    const file = join(folder, path);
    const stats = await lstat(file);
    if (stats.isSymbolicLink()) return [path, await readlink(file)];
    return [
      path,
      stats.isFile()
        ? `${stats.mode.toString(8)} ${createHash('sha256')
            .update(await readFile(file))
            .digest('hex')}`
        : 'folder',
    ];
  });
  return Object.fromEntries(await Promise.all(entries));
}

it('a bundle and its bill of materials have the same bytes in every folder', async () => {
  const made = await Promise.all(places.map((root) => contentsOf(join(root, 'dist'))));
  expect(made[1]).toEqual(made[0]);
  for (const app of apps)
    expect(Object.keys(made[0] ?? {})).toContain(bomPath('', `semaphore-${app}`).replace('dist/', ''));
  expect(Object.keys(made[0] ?? {}).length).toBeGreaterThan(20);
});

it.each(controllers)('the bundle of %s loads nothing for exports of Node.js that it does not use', async (app) => {
  const [root = ''] = places;
  const main = join(root, 'dist', app, 'usr', 'local', 'lib', `semaphore-${app}`, 'main.mjs');
  const list = "process.on('exit', () => console.log(process.moduleLoadList.join()))";
  const { stdout } = await run(process.execPath, ['--import', `data:text/javascript,${list}`, main, '-version']);
  expect(stdout).toContain('NativeModule tls,');
  // By the export `parseArgs` of node:util.
  expect(stdout).not.toContain('NativeModule internal/util/parse_args');
});

// Lazy imports are in separate files, where a library could lose its exports.
it('a bundle speaks SOCKS5, by a library that it loads lazily', async () => {
  const proxy = createServer((client) => {
    // The killed program resets its connections.
    client.on('error', () => client.destroy());
    client.once('data', () => client.end('HTTP'));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const [root = ''] = places;
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigThrough(`socks5://127.0.0.1:${(proxy.address() as AddressInfo).port}`));
  const flags = ['local-kube-config', 'target-kube-config'].map((flag) => `-${flag}=${kubeconfig}`);
  const main = join(root, 'dist', 'policy', 'usr', 'local', 'lib', 'semaphore-policy', 'main.mjs');
  const rest = ['-target-cluster-name=c2', '-listen-address=127.0.0.1:0'];
  const program = spawn(process.execPath, [main, ...flags, ...rest], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    program.kill('SIGKILL');
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
  });
  const told: string[] = [];
  for await (const line of createInterface({ input: program.stderr })) {
    told.push(line);
    if (line.includes('opens no connection')) break;
  }
  expect(told.at(-1)).toContain('it does not speak SOCKS5');
});

describe('the program of the operator', () => {
  let cluster: EmbeddedCluster;
  beforeAll(async () => {
    cluster = await startEmbeddedCluster({ name: 'c1' });
  });
  afterAll(() => cluster.stop());

  /** What it prints of a cluster without our apps. */
  const check = (file: string, ...args: readonly string[]): Promise<string> =>
    run(file, [...args, 'check', '--kubeconfig', cluster.adminKubeconfig]).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
  const found = '\n✗ apps-found: c1: no Pod of an app was found\n';
  const packageOf = (root: string): string => join(root, 'dist', 'cli', 'usr', 'local', 'lib', 'semaphore-cli');

  it('is one file, which needs no other', async () => {
    const file = join(dir, 'alone.cjs');
    await copyFile(join(packageOf(places[0]!), 'semaphore.cjs'), file);
    expect(await check(process.execPath, file)).toContain(found);
  });

  it('has the page of ui in it', async () => {
    const file = join(dir, 'ui.cjs');
    await copyFile(join(packageOf(places[0]!), 'semaphore.cjs'), file);
    const program = spawn(process.execPath, [file, 'ui', '--kubeconfig', cluster.adminKubeconfig]);
    onTestFinished(async () => {
      program.kill();
      if (program.exitCode === null) await once(program, 'exit');
    });
    const [url] = (await once(createInterface({ input: program.stdout }), 'line')) as [string];
    const texts = ['page.js', 'page.css'].map(async (path) => (await fetch(new URL(path, url))).text());
    expect(await Promise.all(texts)).toEqual([
      expect.stringContaining('mesh.json'),
      expect.stringContaining('color-scheme'),
    ]);
  });

  it('is a package that npx runs', async () => {
    const flags = [
      'exec',
      '--offline',
      '--yes',
      '--cache',
      join(dir, 'npm'),
      `--package=${packageOf(places[0]!)}`,
      '--',
    ];
    const { stdout } = await run('npm', [...flags, 'kubectl-semaphore', '--help'], { cwd: dir });
    expect(stdout).toContain('Usage: kubectl semaphore ');
  });

  it('is an executable that needs no Node.js', async () => {
    const file = await makeExecutable(`linux-${process.arch}` as Target, { root: places[0]! });
    const plugin = join(dir, 'kubectl-semaphore');
    await symlink(file, plugin);
    expect(await check(file)).toContain(found);
    expect((await run(plugin, ['--help'], { env: {} })).stdout).toContain('Usage: kubectl semaphore ');
  });
});

function kubeconfigThrough(proxyUrl: string): string {
  const ca = Buffer.from(rootCertificates[0] ?? '').toString('base64');
  const cluster = { server: 'https://api:6443', 'certificate-authority-data': ca, 'proxy-url': proxyUrl };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c2', cluster }],
    users: [{ name: 'c2', user: { token: 't' } }],
    contexts: [{ name: 'c2', context: { cluster: 'c2', user: 'c2' } }],
    'current-context': 'c2',
  });
}
