import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Project, SourceFile } from './project.ts';

/** The fields of a package.json that matter here. */
type Manifest = {
  readonly name?: string;
  readonly nx?: { readonly tags?: readonly string[] };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

/** Every project below `root`, sorted by folder. */
export async function readProjects(root: string): Promise<Project[]> {
  const paths = globSync('{e2e,{apps,packages,tools}/*}/package.json', { cwd: root });
  return Promise.all(paths.toSorted().map((path) => readProject(root, path)));
}

async function readProject(root: string, path: string): Promise<Project> {
  const manifest = JSON.parse(await readFile(join(root, path), 'utf8')) as Manifest;
  return {
    folder: dirname(path),
    name: manifest.name ?? '',
    tags: manifest.nx?.tags ?? [],
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
  };
}

/** The TypeScript files of a project, sorted by path. */
export async function readSources(root: string, { folder }: Project): Promise<SourceFile[]> {
  const cwd = join(root, folder);
  const paths = globSync('{src,test}/**/*.ts', { cwd });
  return Promise.all(paths.toSorted().map(async (path) => ({ path, text: await readFile(join(cwd, path), 'utf8') })));
}
