/**
 * A thread that asks for /healthz again and again, as the thread that measures is too busy to see an answer at once.
 * `workerData` is a {@link Probed}. Any message ends it; it answers with {@link LongestAnswers}.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** A program, and the port of its health server. */
export type Probed = { readonly pid: number; readonly port: number };

/** In ms. */
export type LongestAnswers = {
  readonly longestMs: number;
  /** Without the time in which the program's main thread waited for a core. */
  readonly longestRunningMs: number;
};

/** Short beside what is measured, and little work for the program. */
const INTERVAL_MS = 5;

const { pid, port } = workerData as Probed;
let isOver = false;
parentPort!.once('message', () => (isOver = true));

let [longestMs, longestRunningMs] = [0, 0];
while (!isOver) {
  const [askedAtMs, waitedBeforeMs] = [performance.now(), waitedMs()];
  try {
    const [response] = await once(request({ port, path: '/healthz' }).end(), 'response');
    await once(response.resume(), 'end');
  } catch (error) {
    // The health server resets what waited too long, on a machine without rest. That counts as an answer after that time.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  const tookMs = performance.now() - askedAtMs;
  longestMs = Math.max(longestMs, tookMs);
  longestRunningMs = Math.max(longestRunningMs, tookMs - (waitedMs() - waitedBeforeMs));
  await delay(INTERVAL_MS);
}
parentPort!.postMessage({ longestMs, longestRunningMs } satisfies LongestAnswers);

/** How long the program's main thread was ready to run, and another ran: "run_delay" of the kernel's sched-stats.rst. */
function waitedMs(): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}
