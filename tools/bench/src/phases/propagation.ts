import { availableParallelism } from 'node:os';
import { requestsTo } from '../load/clusters.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { since, total } from '../measure/requests.ts';
import { durations } from '../measure/summary.ts';
import { usageOf } from '../measure/usage.ts';
import type { Figures } from '../report/report.ts';
import { type Bench, type Change, CHANGES_PER_SECOND } from './bench.ts';

/** Keeps the API server busy. More connections would measure its queue. */
const CONNECTIONS = 2 * availableParallelism();

const PERCENTS = [50, 90, 99];

/** When a change was sent, answered, and seen in the local cluster. */
type Timed = { readonly sentAtMs: number; readonly answeredAtMs: number; readonly seenAtMs: number };

/**
 * Makes changes of distinct keys. The times are from just before the request to the remote API server until the bench's
 * watch of the local one sees the effect: two writes and two watches of API servers, and the program between them. From
 * the answer on, they lack the API server's time for the change, which for a pod of 15 kB with managed fields is most of
 * it. The program may see the change a little earlier.
 *
 * @returns also the seconds until all were seen, and the program's requests to the local cluster per write
 */
export async function propagation(
  bench: Bench,
  changes: readonly Change[],
  pace: 'steady' | 'burst',
  { program, account, effect }: { program: Program; account: string; effect: string },
): Promise<{ figures: Figures; seconds: number; requestsPerWrite: number }> {
  const signal = within(program);
  const before = await requestsTo([bench.local], account);
  let writes = 0;
  const unsubscribe = bench.watch.onChange(() => (writes += 1));
  const pending: Promise<Timed>[] = [];
  const make = async (change: Change) => {
    const { answered, seen } = timed(bench, change, signal);
    pending.push(seen);
    // The next change starts when this connection is free.
    await answered;
  };
  await connect(bench);
  const { cpuSeconds } = await usageOf(program.pid);
  if (pace === 'burst') await inParallel(changes, CONNECTIONS, make);
  else await atRate(changes, CHANGES_PER_SECOND, make);
  const times = await Promise.all(pending);
  const { cpuSeconds: usedSeconds } = await usageOf(program.pid);
  unsubscribe();
  const requests = since(before, await requestsTo([bench.local], account));
  const name = pace === 'burst' ? 'burst' : `${CHANGES_PER_SECOND} changes/s`;
  const fromRequest = times.map(({ sentAtMs, seenAtMs }) => seenAtMs - sentAtMs);
  const fromAnswer = times.map(({ answeredAtMs, seenAtMs }) => seenAtMs - answeredAtMs);
  const endMs = Math.max(...times.map(({ seenAtMs }) => seenAtMs));
  return {
    figures: {
      ...durations(`${name}: from ${effect}`, fromRequest, PERCENTS),
      ...durations(`${name}: from the answer to that`, fromAnswer, PERCENTS),
      [`${name}: CPU`]: [usedSeconds - cpuSeconds, 's'],
      [`${name}: writes`]: [writes],
    },
    seconds: (endMs - Math.min(...times.map(({ sentAtMs }) => sentAtMs))) / 1000,
    requestsPerWrite: total(requests) / writes,
  };
}

/** Sends a change. Normally, `answered` resolves first. It rejects if the change is refused. */
function timed({ watch }: Bench, { key, item, apply }: Change, signal: AbortSignal) {
  const sentAtMs = performance.now();
  const answered = apply().then(() => performance.now());
  const seen = Promise.all([answered, watch.seen(key, item, { signal })]).then(([answeredAtMs, seenAtMs]): Timed => {
    return { sentAtMs, answeredAtMs, seenAtMs };
  });
  // The caller may fail on the answer before it awaits this.
  seen.catch(() => {});
  return { answered, seen };
}

/** Opens the connections first, so that no change waits for a TLS handshake. */
async function connect({ remote }: Bench): Promise<void> {
  const connections = Array.from({ length: CONNECTIONS });
  await inParallel(connections, CONNECTIONS, () => remote.api.admin.get('/api/v1/namespaces/default'));
}
