import { matchesGlob } from 'node:path';
import type { Project } from './project.ts';

/** What every `test` target has as input: nx.json's `runner`. */
export type Workspace = { readonly projects: readonly Project[]; readonly runner: readonly string[] };

/**
 * Says whether a file is an input of a project's `test` target, as nx.json defines it: the project's own files, the sources
 * of its dependencies, and what `nx.namedInputs.reads` of its package.json names.
 *
 * @param path from the root; a folder counts as any file in it
 */
export function isTestInput(path: string, folder: string, { projects, runner }: Workspace): boolean {
  const own = projects.find((project) => project.folder === folder);
  if (own === undefined || isIn(folder, path)) return true;
  const patterns = [...runner, ...own.reads].map((pattern) => pattern.replace('{workspaceRoot}/', ''));
  if (patterns.some((pattern) => matchesGlob(path, pattern) || matchesGlob(`${path}/any`, pattern))) return true;
  const owner = projects.find((project) => isIn(project.folder, path));
  return owner !== undefined && isSource(path, owner) && dependenciesOf(own, projects).has(owner);
}

const isIn = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

const isSource = (path: string, { folder }: Project): boolean =>
  !path.endsWith('.test.ts') && !isIn(`${folder}/test`, path);

/** What a project needs, and what that needs in turn: nx adds up development dependencies, too. */
function dependenciesOf(project: Project, projects: readonly Project[], found = new Set<Project>()): Set<Project> {
  for (const name of [...project.dependencies, ...project.devDependencies]) {
    const target = projects.find((other) => other.name === name);
    if (target === undefined || found.has(target)) continue;
    dependenciesOf(target, projects, found.add(target));
  }
  return found;
}
