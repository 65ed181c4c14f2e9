import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clusterKind } from '@kube-semaphore/testkit';
import type { Column } from '../../src/report/report.ts';

/** The output of a bench. */
export type Told = {
  readonly stdout: string;
  readonly stderr: string;
  readonly columns: readonly Column[];
};

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Stops a bench at the end of its test, also after a timeout. */
type Options = { readonly signal: AbortSignal };

/** Runs the bench's command line. Rejects with code and stderr if it fails. */
export const runBench = (args: readonly string[], { signal }: Options) =>
  promisify(execFile)(process.execPath, [main, ...args], { signal });

/** Runs a bench on clusters of the tests' kind, and reads its output. */
export async function tellBench(args: readonly string[], options: Options): Promise<Told> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const json = join(dir, 'result.json');
    const kind = clusterKind() === 'embedded' ? ['--embedded'] : [];
    const { stdout, stderr } = await runBench([...args, ...kind, '--json', json], options);
    const { columns } = JSON.parse(await readFile(json, 'utf8')) as { columns: Column[] };
    return { stdout, stderr, columns };
  } finally {
    await rm(dir, { recursive: true });
  }
}
