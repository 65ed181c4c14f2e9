import { setTimeout as delay } from 'node:timers/promises';
import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import { readCluster } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Surroundings } from '../output/terminal.ts';
import { checks, checksBefore } from './checks.ts';
import { readFacts, type Reading } from './facts.ts';
import { checkPage, checkText, isFine, resultsOf } from './page.ts';

export type CheckOptions = ContextChoice & {
  readonly output: Format;
  /** How long to repeat the checks until they find no problem. */
  readonly wait: number;
  /** Before the installation: only the clusters. */
  readonly pre?: boolean;
};

const RETRY_MS = 2_000;

/** Checks the clusters, and prints what it found. @returns the exit code */
export async function runCheck(options: CheckOptions, { terminal, signal }: Surroundings): Promise<number> {
  const contexts = await contextsOf(options);
  const names = contexts.map(({ name }) => name).join(', ');
  const results = async () => {
    const until = performance.now() + options.wait;
    for (;;) {
      const readings = await Promise.all(contexts.map((context) => read(inTime(context), { signal })));
      const found = resultsOf(options.pre === true ? checksBefore : checks, readings);
      if (isFine(found) || performance.now() + RETRY_MS > until) return found;
      await delay(RETRY_MS, undefined, { signal });
    }
  };
  const found = await terminal.whileWaiting(`checking ${names}`, results());
  terminal.print(pageIn(options.output, checkPage(found), () => checkText(found, terminal.paint)));
  return isFine(found) ? 0 : 1;
}

async function read(context: Context, options: { readonly signal: AbortSignal }): Promise<Reading> {
  const report = await readCluster(context, options);
  return { ...report, facts: await readFacts(context, report, options) };
}
