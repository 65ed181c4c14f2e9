import { availableParallelism } from 'node:os';
import type { Program } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { since, total, type VerbCounts } from '../measure/requests.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { type Bench, type Change, whenSeen } from './bench.ts';
import { requestsOf } from './requests-of.ts';

/** The result of a number of changes. */
export type Propagation = {
  readonly changes: number;
  /** From before the first one was sent until all were seen in the local cluster. */
  readonly seconds: number;
  /**
   * Milliseconds from just before the request to the remote API server until the bench's watch of the local one sees the
   * effect: two writes and two watches of API servers, and the program between them.
   */
  readonly fromRequest: Summary;
  /**
   * The same from the answer on, without the API server's time for the change, which for a pod of 15 kB with managed
   * fields is most of it. The program may see the change a little earlier.
   */
  readonly fromAnswer: Summary;
  /** CPU time of the program. */
  readonly cpuSeconds: number;
  /** Writes of local objects. */
  readonly writes: number;
  /** The program's requests to the local cluster per write. */
  readonly requestsPerWrite: number;
  readonly requests: VerbCounts;
};

/** The rate of changes: per second, or each as soon as a connection is free. */
export type Pace = { readonly perSecond: number } | 'at full speed';

/** A steady rate that every program can follow. */
export const CHANGES_PER_SECOND = 20;

/** Keeps the API server busy. More connections would measure its queue. */
const CONNECTIONS = 2 * availableParallelism();

/** Makes changes, of distinct keys. */
export async function propagation(
  bench: Bench,
  changes: readonly Change[],
  { pid }: Program,
  { pace, account, signal }: { pace: Pace; account: string; signal: AbortSignal },
): Promise<Propagation> {
  const before = await requestsOf(bench, account);
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
  const { cpuSeconds } = await usageOf(pid);
  if (pace === 'at full speed') await inParallel(changes, CONNECTIONS, make);
  else await atRate(changes, pace, make);
  const times = await Promise.all(pending);
  const { cpuSeconds: usedSeconds } = await usageOf(pid);
  unsubscribe();
  const { local: now } = await requestsOf(bench, account);
  const requests = since(before.local, now);
  return {
    changes: changes.length,
    seconds:
      (Math.max(...times.map(({ seenAtMs }) => seenAtMs)) - Math.min(...times.map(({ sentAtMs }) => sentAtMs))) / 1000,
    fromRequest: summarize(times.map(({ sentAtMs, seenAtMs }) => seenAtMs - sentAtMs)),
    fromAnswer: summarize(times.map(({ answeredAtMs, seenAtMs }) => seenAtMs - answeredAtMs)),
    cpuSeconds: usedSeconds - cpuSeconds,
    writes,
    requestsPerWrite: total(requests) / writes,
    requests,
  };
}

/** When a change was sent, answered, and seen in the local cluster. */
type Timed = { readonly sentAtMs: number; readonly answeredAtMs: number; readonly seenAtMs: number };

/** Sends a change. Normally, `answered` resolves first. It rejects if the change is refused. */
function timed(
  { watch }: Bench,
  change: Change,
  signal: AbortSignal,
): { answered: Promise<number>; seen: Promise<Timed> } {
  const sentAtMs = performance.now();
  const answered = change.apply().then(() => performance.now());
  const there = whenSeen(watch, change, { signal });
  const seen = Promise.all([answered, there]).then(([answeredAtMs, seenAtMs]) => ({
    sentAtMs,
    answeredAtMs,
    seenAtMs,
  }));
  // The caller may fail on the answer before it awaits this.
  seen.catch(() => {});
  return { answered, seen };
}

/** Opens the connections first, so that no change waits for a TLS handshake. */
async function connect({ remote }: Bench): Promise<void> {
  await inParallel(Array.from({ length: CONNECTIONS }), CONNECTIONS, () =>
    remote.api.admin.get('/api/v1/namespaces/default'),
  );
}
