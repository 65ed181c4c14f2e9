import { parseArgs } from 'node:util';
import {
  engines,
  findBinaries,
  type Kubernetes,
  otherTools,
  type Recipe,
  recipe,
  type Tool,
  tools,
} from '@kube-semaphore/testkit';
import { build, hasGo } from './build.ts';

try {
  const { values, positionals } = parseArgs({
    options: { engines: { type: 'boolean' }, newer: { type: 'boolean' }, oldest: { type: 'boolean' } },
    allowPositionals: true,
  });
  console.log(await ensure(wantedTools(positionals, { engines: values.engines === true })));
  if (values.newer === true) console.log(await ensure(otherTools['kubernetes-newer'], 'kubernetes-newer'));
  if (values.oldest === true) console.log(await ensure(otherTools['kubernetes-oldest'], 'kubernetes-oldest'));
} catch (error) {
  const { message, cause } = error as Error;
  console.error(cause instanceof Error ? `${message}: ${cause.message}` : message);
  process.exitCode = 1;
}

/** Those that are named, or else all, with the engines only if asked. @throws {Error} for an unknown name */
function wantedTools(names: readonly string[], asked: { readonly engines: boolean }): readonly Tool[] {
  const unknown = names.filter((name) => !tools.some((tool) => tool === name));
  if (unknown.length > 0) throw new Error(`no such tool: ${unknown.join(', ')}; there are ${tools.join(', ')}`);
  if (names.length > 0) return tools.filter((tool) => names.includes(tool));
  return tools.filter((tool) => asked.engines || !engines.includes(tool));
}

/** Sees to it that the wanted tools are there, and says where. */
async function ensure(wanted: readonly Tool[], kubernetes?: Kubernetes): Promise<string> {
  const present = findBinaries(wanted, process.env, kubernetes);
  const pathsOf = ({ paths }: Extract<typeof present, { ok: true }>) => wanted.map((tool) => paths[tool]).join('\n');
  if (present.ok) return `all there:\n${pathsOf(present)}`;
  if (process.env['KUBEBUILDER_ASSETS']) throw new Error(present.reason);
  const help = `install Go 1.26 or later, or point KUBEBUILDER_ASSETS to a folder with ${wanted.join(', ')}`;
  if (!hasGo(process.env)) throw new Error(`Go is not installed: ${help}`);

  for (const tool of present.missing) await buildWithProgress(recipe(tool, process.env, kubernetes));

  const built = findBinaries(wanted, process.env, kubernetes);
  if (!built.ok) throw new Error(built.reason);
  return `ready:\n${pathsOf(built)}`;
}

async function buildWithProgress(instructions: Recipe): Promise<void> {
  const title = `${instructions.tool} ${instructions.version}`;
  console.log(`${title}: building, which may take minutes`);
  const start = performance.now();
  await build(instructions, process.env);
  console.log(`${title}: built in ${Math.round((performance.now() - start) / 1000)} s`);
}
