import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LongestAnswers, Probed } from './health-probe.ts';
import { type Program, within } from './program.ts';

/** Asks a program for /healthz all the time, until a task is done. The program's health server must listen on this port. */
export async function whileProbed<T>(
  program: Program,
  port: number,
  task: () => Promise<T>,
): Promise<LongestAnswers & { readonly result: T }> {
  const signal = within(program);
  const workerData: Probed = { pid: program.pid, port };
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url), { workerData });
  const answered = once(probe, 'message', { signal }) as Promise<[LongestAnswers]>;
  await once(probe, 'online', { signal });
  const [result, [longest]] = await Promise.all([task().finally(() => probe.postMessage('end')), answered]);
  return { ...longest, result };
}
