import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Project, SourceFile } from './project.ts';

/** The fields of a package.json that we read. */
type Manifest = {
  readonly name?: string;
  readonly nx?: { readonly tags?: readonly string[]; readonly namedInputs?: { readonly reads?: readonly string[] } };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

/** Every project below `root`, sorted by folder. */
export function readProjects(root: string): Project[] {
  const paths = globSync('{e2e,{apps,packages,tools}/*}/package.json', { cwd: root });
  return paths.toSorted().map((path) => readProject(root, path));
}

function readProject(root: string, path: string): Project {
  const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
  return {
    folder: dirname(path),
    name: manifest.name ?? '',
    tags: manifest.nx?.tags ?? [],
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    reads: manifest.nx?.namedInputs?.reads ?? [],
  };
}

/** The TypeScript files of a project, sorted by path. */
export function readSources(root: string, { folder }: Project): SourceFile[] {
  const cwd = join(root, folder);
  const paths = globSync('{src,test}/**/*.{ts,tsx}', { cwd });
  return paths.toSorted().map((path) => ({ path, text: readFileSync(join(cwd, path), 'utf8') }));
}

/** Globs of what every test needs, from `root`: the named input `runner` of nx.json. */
export function readRunner(root: string): readonly string[] {
  const { namedInputs } = JSON.parse(readFileSync(join(root, 'nx.json'), 'utf8')) as {
    readonly namedInputs: { readonly runner: readonly string[] };
  };
  return namedInputs.runner;
}
