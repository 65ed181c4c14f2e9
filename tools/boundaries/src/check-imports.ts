import { posix } from 'node:path';
import { tagOf } from './check-manifests.ts';
import { isTest, type Project, type SourceFile } from './project.ts';
import { allowedTags, appEntries, isDecision, pureBuiltins } from './rules.ts';

/** `from '…'`, `import '…'`, `import('…')`, at the start of a statement or in an expression. */
const IMPORT = /(?<!['"])\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g;

/** `import type …;` and `export type … from …;`: absent at run time. */
const TYPES = /^(?:import|export) type [^;]*;/gm;

/** The imports in a text, in order. Comments must not look like imports. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, , specifier]) => specifier ?? []);
}

/**
 * The faults in the imports of a project's files: a path that leaves the project, a project of the workspace that
 * isn't declared or that only tests may use, a part of an app that isn't data, Node.js in a pure package, anything but
 * decisions in an app's decisions.
 *
 * @returns one line per fault, in the order of the files
 */
export function checkImports(
  project: Project,
  { files, projects }: { files: readonly SourceFile[]; projects: readonly Project[] },
): string[] {
  const byName = new Map(projects.map((other) => [other.name, other]));
  return files.flatMap((file) => {
    const whenRun = new Set(importsOf(file.text.replaceAll(TYPES, '')));
    return importsOf(file.text).flatMap((specifier) => {
      const each = { file, specifier, byName };
      const fault = specifier.startsWith('.')
        ? relativeFault(file, specifier)
        : (builtinFault(project, each) ??
          projectFault(project, each) ??
          (whenRun.has(specifier) ? impureFault(each) : undefined));
      return fault === undefined ? [] : [`${project.folder}/${file.path}: ${fault}`];
    });
  });
}

function relativeFault(file: SourceFile, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(file.path), specifier);
  if (target.startsWith('..')) return `${specifier} leaves the project: import another one by its name`;
  return decides(file) && !isDecision(target) ? `${specifier} is no decision, and this file only decides` : undefined;
}

/** Whether the file is a pure part of an app. */
const decides = (file: SourceFile): boolean => isDecision(file.path) && !isTest(file);

/** Decisions may import only types from packages that aren't pure. */
function impureFault({
  file,
  specifier,
  byName,
}: Import & { byName: ReadonlyMap<string, Project> }): string | undefined {
  if (!decides(file)) return undefined;
  const target = byName.get(specifier);
  const isPure = target === undefined ? pureBuiltins.includes(specifier) : tagOf(target) === 'type:pure';
  return isPure ? undefined : `a decision may import ${specifier} for its types only`;
}

type Import = { readonly file: SourceFile; readonly specifier: string };

function builtinFault(project: Project, { file, specifier }: Import): string | undefined {
  if (tagOf(project) !== 'type:pure' || isTest(file) || !specifier.startsWith('node:')) return undefined;
  return pureBuiltins.includes(specifier) ? undefined : `a pure package may not import ${specifier}`;
}

function projectFault(
  project: Project,
  { file, specifier, byName }: Import & { byName: ReadonlyMap<string, Project> },
): string | undefined {
  const name = specifier.split('/').slice(0, 2).join('/');
  const target = byName.get(name);
  if (target === undefined || target === project) return undefined;
  const [own, tag] = [tagOf(project), tagOf(target)];
  const mayTest = own !== undefined && allowedTags[own].includes('type:test');
  if (tag === 'type:test' && !mayTest && !isTest(file)) return `${name} is for tests only`;
  if (tag === 'type:app' && !appEntries.includes(specifier.slice(name.length))) {
    return `${specifier}: of an app only ${appEntries.map((entry) => `.${entry}`).join(', ')} may be imported`;
  }
  const declared = isTest(file) ? [...project.dependencies, ...project.devDependencies] : project.dependencies;
  return declared.includes(name) ? undefined : `${name} is not declared in ${project.folder}/package.json`;
}
