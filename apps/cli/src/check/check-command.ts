import { setTimeout as delay } from 'node:timers/promises';
import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { readCluster } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Invocation } from '../output/terminal.ts';
import { checks, checksBefore } from './checks.ts';
import { readFacts, type Reading } from './facts/facts.ts';
import { readMeanings } from './facts/network-policies.ts';
import { type CheckResult, checkPage, checkText, isFine, resultsOf } from './page.ts';
import { policyChecks } from './policy-checks.ts';

export type CheckOptions = ContextChoice & {
  readonly output: Format;
  /** How long to repeat the checks until they find no problem. */
  readonly wait: number;
  /** Before the installation: only the clusters. */
  readonly pre?: boolean;
  /** Only what NetworkPolicies that name clusters let in, and what is wrong with them. */
  readonly networkPolicies?: boolean;
};

const RETRY_MS = 2_000;

/** Checks the clusters, and prints what it found. @returns the exit code */
export async function runCheck(options: CheckOptions, { terminal, signal }: Invocation): Promise<number> {
  const contexts = await contextsOf(options);
  const names = contexts.map(({ name }) => name).join(', ');
  const results = async () => {
    const until = performance.now() + options.wait;
    for (;;) {
      const found = await resultsIn(
        contexts.map((context) => inTime(context)),
        options,
        { signal },
      );
      if (isFine(found) || performance.now() + RETRY_MS > until) return found;
      await delay(RETRY_MS, undefined, { signal });
    }
  };
  const found = await terminal.whileWaiting(`checking ${names}`, results());
  terminal.print(pageIn(options.output, checkPage(found), () => checkText(found, terminal.paint)));
  return isFine(found) ? 0 : 1;
}

async function resultsIn(
  contexts: readonly Context[],
  { pre = false, networkPolicies = false }: CheckOptions,
  run: Run,
): Promise<readonly CheckResult[]> {
  if (networkPolicies) return resultsOf(policyChecks, await readMeanings(contexts, run));
  const readings = await Promise.all(contexts.map((context) => read(context, run)));
  return resultsOf(pre ? checksBefore : checks, readings);
}

async function read(context: Context, run: Run): Promise<Reading> {
  const report = await readCluster(context, run);
  return { ...report, facts: await readFacts(context, report, run) };
}
