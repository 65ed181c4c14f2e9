import { jsonPage, printable } from '@kube-semaphore/text';
import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { readImports, readServices } from '../clusters/services.ts';
import { readCluster, warnOfLeftOut } from '../clusters/report.ts';
import type { Surroundings } from '../output/terminal.ts';
import { type Graph, graphOf, type ReadCluster } from './graph.ts';
import { labelled } from './labels.ts';
import { svgOf } from './svg.ts';
import { dotOf, mermaidOf } from './text-formats.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

const pages = {
  svg: (graph: Graph) => svgOf(labelled(graph)),
  mermaid: (graph: Graph) => mermaidOf(labelled(graph)),
  dot: (graph: Graph) => dotOf(labelled(graph)),
  json: (graph: Graph) => jsonPage({ schemaVersion: SCHEMA_VERSION, ...graph }),
};

export type GraphOptions = ContextChoice & { readonly output: keyof typeof pages };

export const graphFormats = Object.keys(pages);

/** Prints the mesh. What can't be read is missing in it, and is named on stderr. @returns the exit code */
export async function runGraph(options: GraphOptions, { terminal, signal }: Surroundings): Promise<number> {
  const contexts = await contextsOf(options);
  const work = Promise.all(contexts.map((context) => read(inTime(context), { signal })));
  const all = await terminal.whileWaiting(`reading ${contexts.map(({ name }) => name).join(', ')}`, work);
  terminal.print(pages[options.output](graphOf(all)));
  const failures = all.flatMap((each) => each.failures);
  for (const failure of failures) terminal.complain(`${printable(failure)}\n`);
  warnOfLeftOut(
    terminal,
    all.map(({ report }) => report),
  );
  return failures.length === 0 ? 0 : 1;
}

async function read(context: Context, run: Run): Promise<ReadCluster & { readonly failures: readonly string[] }> {
  const [report, services, imports] = await Promise.all([
    readCluster(context, run),
    readServices(context, run),
    readImports(context, run),
  ]);
  const ofPods = report.pods.flatMap(({ namespace, name, status }) =>
    'failure' in status ? [`${context.name}: ${namespace}/${name} doesn't tell its status: ${status.failure}`] : [],
  );
  const failures = [
    report.failure ?? [],
    services.known ? [] : services.why,
    imports.known ? [] : imports.why,
    ofPods,
  ].flat();
  return {
    report,
    services: services.known ? services.value : [],
    imports: imports.known ? imports.value : [],
    failures: [...new Set(failures)],
  };
}
