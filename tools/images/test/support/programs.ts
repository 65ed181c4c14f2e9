import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCode, controllers } from '../../src/bundle/bundle.ts';
import { run, works } from '../../src/run.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

export type App = (typeof controllers)[number];

/** The launcher of each program of a cluster. */
export type Programs = Readonly<Record<App, string>>;

/** Bundles the programs of this checkout. @param folder for the bundles */
export async function programsOf(folder: string, tree = root): Promise<Programs> {
  const launchers: (readonly [App, string])[] = [];
  for (const app of controllers)
    launchers.push([app, (await bundleCode(app, { root: tree, outdir: join(folder, app) })).launcher]);
  return Object.fromEntries(launchers) as Programs;
}

/**
 * Bundles the programs of a commit, with the packages of npm that are installed here.
 *
 * @throws {Error} that says what to fetch if this checkout lacks the commit, as a shallow one may
 */
export async function earlierPrograms(folder: string, commit: string): Promise<Programs> {
  if (!(await works(['git', '-C', root, 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`])))
    throw new Error(`this checkout lacks ${commit}: run "git fetch origin ${commit}", or set UPGRADE_FROM`);
  const tree = await mkdtemp(join(tmpdir(), 'earlier-'));
  try {
    const unpack = 'set -o pipefail; git -C "$0" archive "$1" | tar -x -C "$2"';
    await run(['bash', '-c', unpack, root, commit, tree]);
    await link(tree);
    return await programsOf(folder, tree);
  } finally {
    await rm(tree, { recursive: true });
  }
}

/** Gives a tree its own packages of the workspace, and those of npm that are installed here. */
async function link(tree: string): Promise<void> {
  const [here, there] = [join(root, 'node_modules'), join(tree, 'node_modules')];
  await mkdir(join(there, '@kube-semaphore'), { recursive: true });
  for (const name of await readdir(here))
    if (name !== '@kube-semaphore') await symlink(join(here, name), join(there, name));
  for (const file of globSync('{apps,packages}/*/package.json', { cwd: tree })) {
    const { name } = JSON.parse(await readFile(join(tree, file), 'utf8')) as { readonly name: string };
    await symlink(join(tree, dirname(file)), join(there, name));
  }
}
