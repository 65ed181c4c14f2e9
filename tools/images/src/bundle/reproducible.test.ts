import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apps, bomPath, bundle } from './bundle.ts';

const run = promisify(execFile);
const workspace = fileURLToPath(new URL('../../../../', import.meta.url));

type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly [mark in 'dev' | 'devOptional' | 'optional' | 'link']?: boolean }>
  >;
};

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bundle-'));
});
afterAll(() => rm(dir, { recursive: true }));

/** Packs what a bundle is made of: our sources, and the packages of npm that aren't for development alone. */
async function pack(archive: string): Promise<void> {
  const sources = globSync(
    ['{apps,packages}/*/{src,bin,package.json}', '{package,package-lock,tsconfig,tsconfig.base}.json'],
    { cwd: workspace },
  );
  const links = globSync('node_modules/@kube-semaphore/*', { cwd: workspace });
  const { packages } = JSON.parse(await readFile(join(workspace, 'package-lock.json'), 'utf8')) as Lock;
  const installed = Object.keys(packages).filter((path) => {
    const { dev, devOptional, optional, link } = packages[path] ?? {};
    return path.startsWith('node_modules/') && !dev && !devOptional && !optional && !link;
  });
  await run('tar', ['-C', workspace, '-cf', archive, ...sources, ...links, ...installed]);
}

/** Each path below a folder, with its mode and a hash of what is in the file, or where the link leads. */
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

it('a bundle has the same bytes wherever it is made, and so has what tells of its parts', async () => {
  const archive = join(dir, 'workspace.tar');
  await pack(archive);
  const made = await Promise.all(
    [join(dir, 'a'), join(dir, 'another', 'place')].map(async (root) => {
      await mkdir(root, { recursive: true });
      await run('tar', ['-C', root, '-xf', archive]);
      for (const app of apps) await bundle(app, { root });
      return contentsOf(join(root, 'dist'));
    }),
  );
  expect(made[1]).toEqual(made[0]);
  for (const app of apps)
    expect(Object.keys(made[0] ?? {})).toContain(bomPath('', `semaphore-${app}`).replace('dist/', ''));
  expect(Object.keys(made[0] ?? {}).length).toBeGreaterThan(20);
});
