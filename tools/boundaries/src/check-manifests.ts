import type { Project } from './project.ts';
import { allowedTags, libraryArrows, type Tag } from './rules.ts';

/**
 * The faults in the package.json files of a workspace: a missing or unknown tag, a dependency against the tags or
 * against the arrows between libraries, a cycle. Ignores dependencies outside the workspace.
 * `checkImports` checks that imports are declared.
 *
 * @returns one line per fault, sorted
 */
export function checkManifests(projects: readonly Project[]): string[] {
  const byName = new Map(projects.map((project) => [project.name, project]));
  const faults = projects.flatMap((project) => [
    ...tagFaults(project),
    ...dependencyFaults(project, byName),
    ...(tagOf(project) === 'type:lib' && libraryArrows[project.folder] === undefined
      ? [`${project.folder}: a new library needs its arrows in tools/boundaries/src/rules.ts`]
      : []),
  ]);
  return [...faults, ...cycles(projects, byName)].toSorted();
}

/** The tag of a project; undefined unless it has exactly one known tag. */
export function tagOf({ tags }: Project): Tag | undefined {
  const [tag, ...others] = tags.filter((candidate) => candidate.startsWith('type:'));
  return others.length === 0 && tag !== undefined && isTag(tag) ? tag : undefined;
}

function isTag(candidate: string): candidate is Tag {
  return Object.hasOwn(allowedTags, candidate);
}

function tagFaults(project: Project): string[] {
  if (tagOf(project) !== undefined) return [];
  return [`${project.folder}: nx.tags must have exactly one of ${Object.keys(allowedTags).join(', ')}`];
}

function dependencyFaults(project: Project, byName: ReadonlyMap<string, Project>): string[] {
  const own = tagOf(project);
  if (own === undefined) return [];
  const arrows = libraryArrows[project.folder] ?? [];
  return targetsOf(project, byName).flatMap((target) => {
    const tag = tagOf(target);
    const arrow = `${project.folder} -> ${target.folder}`;
    // A target without a tag is reported separately.
    if (tag === undefined) return [];
    if (!allowedTags[own].includes(tag)) return [`${arrow}: ${own} may not depend on ${tag}`];
    if (own === 'type:lib' && tag === 'type:lib' && !arrows.includes(target.folder)) {
      return [`${arrow}: no such arrow in tools/boundaries/src/rules.ts`];
    }
    return [];
  });
}

function targetsOf(project: Project, byName: ReadonlyMap<string, Project>): Project[] {
  return project.dependencies.flatMap((name) => byName.get(name) ?? []);
}

/** Each cycle once, starting with its alphabetically first project. */
function cycles(projects: readonly Project[], byName: ReadonlyMap<string, Project>): string[] {
  const found = new Set<string>();
  const visit = (project: Project, path: readonly Project[]): void => {
    const start = path.indexOf(project);
    if (start >= 0) found.add(spell(path.slice(start)));
    else for (const target of targetsOf(project, byName)) visit(target, [...path, project]);
  };
  for (const project of projects) visit(project, []);
  return [...found];
}

function spell(cycle: readonly Project[]): string {
  const folders = cycle.map(({ folder }) => folder);
  const first = folders.indexOf(folders.toSorted()[0] ?? '');
  const turned = [...folders.slice(first), ...folders.slice(0, first)];
  return `cycle: ${[...turned, turned[0]].join(' -> ')}`;
}
