import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { readCluster, warnOfSkipped } from '../clusters/report.ts';
import { readImports, readServices } from '../clusters/services.ts';
import { pages } from '../output/format.ts';
import { complainOf, type Invocation } from '../output/terminal.ts';
import { unreadIn } from '../status/page.ts';
import { graphOf, type ReadCluster } from './graph.ts';
import { labelled } from './labels.ts';
import { svgOf } from './svg.ts';
import { dotOf, mermaidOf } from './text-formats.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

const pictures = { svg: svgOf, mermaid: mermaidOf, dot: dotOf };

export const graphFormats = [...(Object.keys(pictures) as (keyof typeof pictures)[]), 'json', 'yaml'] as const;

export type GraphOptions = ContextChoice & { readonly output: (typeof graphFormats)[number] };

/**
 * Prints the mesh. What can't be read is missing in it, and is named on stderr. Without a Pod of ours, there is no mesh.
 *
 * @returns the exit code
 */
export async function runGraph(options: GraphOptions, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation;
  const { output } = options;
  const contexts = await contextsOf(options);
  const work = Promise.all(contexts.map((context) => read(inTime(context), { signal })));
  const all = await terminal.whileWaiting(`reading ${contexts.map(({ name }) => name).join(', ')}`, work);
  const reports = all.map(({ report }) => report);
  if (reports.some(({ pods }) => pods.length > 0)) {
    const graph = graphOf(all);
    const page = { schemaVersion: SCHEMA_VERSION, ...graph };
    terminal.print(output === 'json' || output === 'yaml' ? pages[output](page) : pictures[output](labelled(graph)));
  }
  const failures = new Set([...unreadIn(reports), ...all.flatMap((each) => each.failures)]);
  for (const failure of failures) complainOf(invocation, failure);
  warnOfSkipped(terminal, reports);
  return failures.size === 0 ? 0 : 1;
}

async function read(context: Context, run: Run): Promise<ReadCluster & { readonly failures: readonly string[] }> {
  const [report, services, imports] = await Promise.all([
    readCluster(context, run),
    readServices(context, run),
    readImports(context, run),
  ]);
  return {
    report,
    services: services.known ? services.value : [],
    imports: imports.known ? imports.value : [],
    failures: [services, imports].flatMap((each) => (each.known ? [] : [each.why])),
  };
}
