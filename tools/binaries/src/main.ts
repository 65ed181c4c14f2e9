import { findBinaries, recipe, type Tool, tools } from '@kube-semaphore/testkit';
import { build, hasGo } from './build.ts';

const help = `install Go 1.26 or later, or point KUBEBUILDER_ASSETS to a folder with ${tools.join(', ')}`;

try {
  console.log(await ensure());
} catch (error) {
  const { message, cause } = error as Error;
  console.error(cause instanceof Error ? `${message}: ${cause.message}` : message);
  process.exitCode = 1;
}

/** Sees to it that every tool is there, and says where. */
async function ensure(): Promise<string> {
  const present = findBinaries();
  if (present.ok) return `all there:\n${Object.values(present.paths).join('\n')}`;
  if (process.env['KUBEBUILDER_ASSETS']) throw new Error(present.reason);
  if (!hasGo(process.env)) throw new Error(`Go is not installed: ${help}`);

  for (const tool of present.missing) await buildWithProgress(tool);

  const built = findBinaries();
  if (!built.ok) throw new Error(built.reason);
  return `ready:\n${Object.values(built.paths).join('\n')}`;
}

async function buildWithProgress(tool: Tool): Promise<void> {
  const instructions = recipe(tool);
  const title = `${tool} ${instructions.version}`;
  console.log(`${title}: building, which may take minutes`);
  const start = performance.now();
  await build(instructions, process.env);
  console.log(`${title}: built in ${Math.round((performance.now() - start) / 1000)} s`);
}
