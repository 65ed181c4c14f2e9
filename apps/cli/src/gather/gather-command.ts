import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { printable } from '@kube-semaphore/text';
import packageJson from '../../package.json' with { type: 'json' };
import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { complainOf, type Invocation } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { fileName, gatherCluster } from './read.ts';
import { TAR_END, tarEntry } from './tar.ts';

export type GatherOptions = ContextChoice & { readonly output: string };

/** Logs of many Pods are read one after the other. */
const GATHERING_MS = 600_000;

/** Writes an archive for a bug report. @returns the exit code */
export async function runGather(options: GatherOptions, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation;
  const { output } = options;
  const contexts = await contextsOf(options);
  const failures: string[] = [];
  const warnings: string[] = [];
  // Only the user may read it, and an existing file stays.
  const file = await open(output, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${output} can't be written (${error.code ?? error.message}): set -o to another file`);
  });
  try {
    const work = pipeline(
      entries(contexts, { failures, warnings }, { signal }),
      createGzip(),
      file.createWriteStream(),
    );
    await terminal.whileWaiting(`reading ${contexts.map(({ name }) => name).join(', ')}`, work);
  } catch (error) {
    await rm(output, { force: true });
    throw error;
  }
  for (const failure of failures) complainOf(invocation, failure);
  for (const warning of warnings) terminal.complain(`${printable(warning)}\n`);
  terminal.print(`wrote ${printable(output)}\n`);
  return failures.length === 0 ? 0 : 1;
}

async function* entries(
  contexts: readonly Context[],
  { failures, warnings }: Readonly<Record<'failures' | 'warnings', string[]>>,
  run: Run,
): AsyncGenerator<Buffer> {
  const now = new Date();
  const root = 'semaphore-gather';
  yield tarEntry(`${root}/version.txt`, `semaphore ${packageJson.version}, ${now.toISOString()}\n`, now);
  for (const [i, context] of contexts.entries()) {
    for await (const each of gatherCluster(
      inTime(context, GATHERING_MS),
      `${root}/${i}-${fileName(context.name)}`,
      run,
    )) {
      if ('failure' in each) failures.push(each.failure);
      else {
        if (each.warning !== undefined) warnings.push(each.warning);
        yield tarEntry(each.path, each.content, now);
      }
    }
  }
  yield tarEntry(`${root}/failures.txt`, failures.map((failure) => `${printable(failure)}\n`).join(''), now);
  yield TAR_END;
}
