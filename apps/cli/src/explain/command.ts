import { type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import { warnOfLeftOut } from '../clusters/report.ts';
import type { Surroundings } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { explain } from './hops.ts';
import { explainJson, explainText, isFine } from './page.ts';
import { readFacts } from './read.ts';
import { parseDestination, parseSource } from './words.ts';

export type ExplainOptions = Pick<ContextChoice, 'kubeconfig'> & {
  readonly output: 'text' | 'json';
  readonly from: string;
  readonly to: string;
  readonly toContext?: string;
};

/** Prints each hop of a packet between two clusters, and what is wrong with it. @returns the exit code */
export async function runExplain(options: ExplainOptions, { terminal, signal }: Surroundings): Promise<number> {
  const from = parseSource(options.from);
  const to = parseDestination(options.to, options.toContext);
  const [here, there] = await contextsOf({ kubeconfig: options.kubeconfig, context: [from.context, to.context] });
  if (here === undefined || there === undefined)
    throw new UsageError('--from and --to are in one cluster: name two contexts');
  const work = readFacts({ from, to, here: inTime(here), there: inTime(there) }, { signal });
  const facts = await terminal.whileWaiting(`reading ${here.name}, ${there.name}`, work);
  warnOfLeftOut(terminal, [facts.here.report, facts.there.report]);
  const explanation = explain(facts);
  const { paint, print } = terminal;
  print(options.output === 'json' ? explainJson(explanation) : explainText(explanation, paint));
  return isFine(explanation) ? 0 : 1;
}
