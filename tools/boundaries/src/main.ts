import { checkImports } from './check-imports.ts';
import { checkManifests } from './check-manifests.ts';
import { checkServers } from './check-servers.ts';
import { checkFigures, figuresOf, limits } from './figures.ts';
import { readProjects, readSources } from './workspace.ts';

const root = process.cwd();
const projects = readProjects(root);
const sources = projects.map((project) => ({ project, files: readSources(root, project) }));
const figures = figuresOf(sources);
const faults = [
  ...checkManifests(projects),
  ...sources.flatMap(({ project, files }) => [
    ...checkImports(project, { files, projects }),
    ...checkServers(project, files),
  ]),
  ...checkFigures(figures, limits),
];
if (projects.length === 0) faults.push(`no project below ${root}: run this at the root of the workspace`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`${projects.length} projects, all dependencies allowed`);
for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${value}`);
