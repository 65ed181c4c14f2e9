import { checkImports } from './check-imports.ts';
import { checkManifests } from './check-manifests.ts';
import { checkServers } from './check-servers.ts';
import { readProjects, readSources } from './workspace.ts';

const root = process.cwd();
const projects = readProjects(root);
const faults = checkManifests(projects);
for (const project of projects) {
  const files = readSources(root, project);
  faults.push(...checkImports(project, { files, projects }), ...checkServers(project, files));
}
if (projects.length === 0) faults.push(`no project below ${root}: run this at the root of the workspace`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`${projects.length} projects, all dependencies allowed`);
