import { setTimeout as delay } from 'node:timers/promises';
import { type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import { readCluster } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Invocation } from '../output/terminal.ts';
import { problemsIn, statusPage, statusText } from './page.ts';

export type StatusOptions = ContextChoice & { readonly output: Format; readonly watch?: boolean };

const WATCH_MS = 2_000;

const CLEAR = '\u001b[2J\u001b[H';

/** Prints the status of the clusters, with `watch` again and again until it is interrupted. @returns the exit code */
export async function runStatus(options: StatusOptions, { terminal, signal }: Invocation): Promise<number> {
  const contexts = await contextsOf(options);
  const names = contexts.map(({ name }) => name).join(', ');
  for (;;) {
    const work = Promise.all(contexts.map((context) => readCluster(inTime(context), { signal })));
    const reports = await terminal.whileWaiting(`reading ${names}`, work);
    const page = pageIn(options.output, statusPage(reports), () =>
      statusText(reports, { paint: terminal.paint, nowMs: Date.now() }),
    );
    terminal.print(options.watch === true && terminal.isInteractive ? CLEAR + page : page);
    if (options.watch !== true) return problemsIn(reports).length === 0 ? 0 : 1;
    await delay(WATCH_MS, undefined, { signal });
  }
}
