import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The variable that carries the slowdown from the start of a test run to its workers. */
export const SLOWDOWN = 'KUBE_SEMAPHORE_SLOWDOWN';

/** What {@link measureSlowdown} takes on an idle machine with two cores. */
const REFERENCE_MS = 400;

/** More would only delay the report of a test that hangs. */
const MAX_SLOWDOWN = 10;

/** Starts and computes, as tests do; 30 million rounds take about as long as the start. */
const WORK = 'let n = 0; for (let i = 0; i < 3e7; i++) n = (n * 31 + i) | 0;';

/** Runs four processes at once. Returns how much longer they take than on the reference machine: 1 to 10. */
export async function measureSlowdown(): Promise<number> {
  const run = promisify(execFile);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, ['-e', WORK])));
  return slowdownOf(performance.now() - startedAt);
}

/** The slowdown that a measured time stands for, in tenths. */
export function slowdownOf(elapsedMs: number): number {
  const factor = Math.round((10 * elapsedMs) / REFERENCE_MS) / 10;
  return Math.min(MAX_SLOWDOWN, Math.max(1, factor));
}

/** A timeout of the reference machine, in milliseconds, as this machine needs it. Outside a test run it stays as it is. */
export const scaled = (timeoutMs: number): number => timeoutMs * Number(process.env[SLOWDOWN] ?? 1);
