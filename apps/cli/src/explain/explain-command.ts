import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { warnOfSkipped } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Invocation } from '../output/terminal.ts';
import { imageOf } from '../packet-test/pods.ts';
import { UsageError } from '../usage-error.ts';
import type { Facts } from './facts.ts';
import { explain } from './explain.ts';
import { explainPage, explainText, isFine } from './page.ts';
import { pairsOf } from './pairs.ts';
import { probe } from './probe.ts';
import { readFacts } from './read.ts';
import { parseDestination, parseSource } from './words.ts';

export type ExplainOptions = Pick<ContextChoice, 'kubeconfig'> & {
  readonly output: Format;
  readonly from: string;
  readonly to: string;
  readonly toContext?: string;
  readonly probe?: boolean;
  /** Of the probe. Default: that of a Pod of our apps in the cluster of the caller. */
  readonly image?: string;
};

/** Prints each hop of a packet between two clusters, and what is wrong with it. @returns the exit code */
export async function runExplain(options: ExplainOptions, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation;
  const from = parseSource(options.from);
  const to = parseDestination(options.to, options.toContext);
  const [here, there] = await contextsOf({ kubeconfig: options.kubeconfig, context: [from.context, to.context] });
  if (here === undefined || there === undefined)
    throw new UsageError('--from and --to are in one cluster: name two contexts');
  const work = readFacts({ from, to, here: inTime(here), there: inTime(there) }, { signal });
  const read = await terminal.whileWaiting(`reading ${here.name}, ${there.name}`, work);
  warnOfSkipped(terminal, [read.here.report, read.there.report]);
  const pairs = pairsOf(read);
  if (options.probe === true && pairs.length > 1) throw new UsageError('--probe asks one Pod: name one at each end');
  const facts = options.probe === true ? [await withProbe(here, pairs[0]!, options, invocation)] : pairs;
  const explanations = facts.map(explain);
  terminal.print(pageIn(options.output, explainPage(explanations), () => explainText(explanations, terminal.paint)));
  return explanations.every(isFine) ? 0 : 1;
}

async function withProbe(
  here: Context,
  facts: Facts,
  options: ExplainOptions,
  { terminal, signal }: Invocation,
): Promise<Facts> {
  const image = imageOf(here, facts.here.report.pods, options.image);
  nameContexts([here], terminal);
  const work = probe(here, facts, image, { signal });
  return { ...facts, probed: await terminal.whileWaiting(`probing from ${here.name}`, work) };
}
