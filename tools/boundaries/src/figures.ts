import { tagOf } from './check-manifests.ts';
import { importsOf } from './check-imports.ts';
import { isTest, type Project, type SourceFile } from './project.ts';

/** What makes the code hard to follow, counted. */
export type Figures = {
  /** Members and arguments named `onX` in the controllers that are functions: who calls whom isn't seen where it is read. */
  readonly callbacks: number;
  /** `new Reflector(` in apps: watches that are set up by hand. */
  readonly reflectors: number;
  /** Lines of the controllers. */
  readonly controllerLines: number;
  /** Lines of the packages that run in programs. */
  readonly packageLines: number;
  /** Imports from one app into another, but for its tables of data. */
  readonly appImports: number;
};

/** The most that there may be of what no feature needs more of. A change that lowers a figure lowers its limit, too. */
export const limits: Limits = { callbacks: 87, reflectors: 2, appImports: 2 };

export type Limits = Pick<Figures, 'callbacks' | 'reflectors' | 'appImports'>;

/** The entries of an app that are tables of data. */
const TABLES = ['options', 'metrics', 'names'];

/** What a project has, without its tests. */
export type ProjectSources = { readonly project: Project; readonly files: readonly SourceFile[] };

export function figuresOf(all: readonly ProjectSources[]): Figures {
  const sources = all.map(({ project, files }) => ({ project, files: files.filter((file) => !isTest(file)) }));
  const apps = sources.filter(({ project }) => ['type:app', 'type:cli'].includes(tagOf(project) ?? ''));
  const controllers = apps.filter(({ project }) => tagOf(project) === 'type:app');
  const packages = sources.filter(({ project }) => ['type:pure', 'type:lib'].includes(tagOf(project) ?? ''));
  const names = new Set(apps.map(({ project }) => project.name));
  return {
    callbacks: countIn(controllers, /\bon[A-Z]\w*\??: \(/g),
    reflectors: countIn(apps, /\bnew Reflector\(/g),
    controllerLines: countIn(controllers, /\n/g),
    packageLines: countIn(packages, /\n/g),
    appImports: apps
      .flatMap(({ files }) => files.flatMap(({ text }) => importsOf(text)))
      .filter((specifier) => {
        const [scope, app, entry = ''] = specifier.split('/');
        return names.has(`${scope}/${app}`) && !TABLES.includes(entry);
      }).length,
  };
}

const countIn = (sources: readonly ProjectSources[], pattern: RegExp): number =>
  sources.reduce((sum, { files }) => sum + files.reduce((all, { text }) => all + text.split(pattern).length - 1, 0), 0);

/** @returns one line per figure that isn't its limit */
export function checkFigures(figures: Limits, most: Limits): string[] {
  return (Object.keys(most) as (keyof Limits)[])
    .filter((name) => figures[name] !== most[name])
    .map((name) => {
      const what = figures[name] > most[name] ? 'make it no more than' : 'now lower its limit, which is';
      return `${name}: ${figures[name]}: ${what} ${most[name]}, in tools/boundaries/src/figures.ts`;
    });
}
