import { globSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCode, controllers } from '../../src/bundle/bundle.ts';
import { run, works } from '../../src/run.ts';

export type App = (typeof controllers)[number];

/** The launcher of each program of a cluster. */
export type Programs = Readonly<Record<App, string>>;

/** This checkout. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Bundles the programs of a tree, this checkout or one of `checkOut`, into a folder. */
export async function programsOf(tree: string, folder: string): Promise<Programs> {
  const launchers: (readonly [App, string])[] = [];
  for (const app of controllers)
    launchers.push([app, (await bundleCode(app, { root: tree, outdir: join(folder, app) })).launcher]);
  return Object.fromEntries(launchers) as Programs;
}

/**
 * Writes the files of a commit into a new folder, where its programs can be bundled with the packages of npm that are installed here.
 *
 * @throws {Error} that says what to fetch if this checkout lacks the commit, as a shallow one may
 */
export async function checkOut(commit: string, tree: string): Promise<void> {
  if (!(await works(['git', '-C', root, 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`])))
    throw new Error(`this checkout lacks ${commit}: run "git fetch origin ${commit}", or set UPGRADE_FROM`);
  await mkdir(tree);
  await run(['bash', '-c', 'set -o pipefail; git -C "$0" archive "$1" | tar -x -C "$2"', root, commit, tree]);
  await link(tree);
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
