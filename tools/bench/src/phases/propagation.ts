import { availableParallelism } from 'node:os';
import { atRate, inParallel } from '../measure/pace.ts';
import { since, total, type VerbCounts } from '../measure/requests.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { type Bench, type Change, whenSeen } from './bench.ts';
import { requestsOf } from './requests-of.ts';

/** What became of a number of changes. */
export type Propagation = {
  readonly changes: number;
  /** From before the first one was sent until all were seen in the local cluster. */
  readonly seconds: number;
  /**
   * Milliseconds from just before the change is sent to the remote API server until the bench's watch of the local one
   * brings what it leads to: two writes and two watches of API servers, and the program between them.
   */
  readonly fromRequest: Summary;
  /**
   * The same from the answer on, which leaves out what the API server needs for the change: for a pod of 15 kB with
   * managed fields, most of it all. The program may have heard of the change a little earlier.
   */
  readonly fromAnswer: Summary;
  /** Of local objects. */
  readonly writes: number;
  /** The program's requests to the local cluster, for each of these. */
  readonly requestsPerWrite: number;
  readonly requests: VerbCounts;
};

/** How the changes follow each other: so many a second, or each as soon as a connection is free. */
export type Pace = { readonly perSecond: number } | 'as fast as they go';

/** A steady rate that leaves every program time to rest. */
export const CHANGES_PER_SECOND = 20;

/** Keeps the API server busy; with more it would queue them up, and the queue would be what is measured. */
const CONNECTIONS = 2 * availableParallelism();

/** Makes changes, of distinct keys. */
export async function propagation(
  bench: Bench,
  changes: readonly Change[],
  { pace, account, signal }: { pace: Pace; account: string; signal: AbortSignal },
): Promise<Propagation> {
  const before = await requestsOf(bench, account);
  let writes = 0;
  const unsubscribe = bench.watch.onChange(() => (writes += 1));
  const pending: Promise<Timed>[] = [];
  const make = async (change: Change) => {
    const { answered, seen } = timed(bench, change, signal);
    pending.push(seen);
    // The next one goes when this connection is free, however far this change has come.
    await answered;
  };
  await connect(bench);
  if (pace === 'as fast as they go') await inParallel(changes, CONNECTIONS, make);
  else await atRate(changes, pace, make);
  const times = await Promise.all(pending);
  unsubscribe();
  const { local: now } = await requestsOf(bench, account);
  const requests = since(before.local, now);
  return {
    changes: changes.length,
    seconds:
      (Math.max(...times.map(({ seenAtMs }) => seenAtMs)) - Math.min(...times.map(({ sentAtMs }) => sentAtMs))) / 1000,
    fromRequest: summarize(times.map(({ sentAtMs, seenAtMs }) => seenAtMs - sentAtMs)),
    fromAnswer: summarize(times.map(({ answeredAtMs, seenAtMs }) => seenAtMs - answeredAtMs)),
    writes,
    requestsPerWrite: total(requests) / writes,
    requests,
  };
}

/** When a change was sent, answered, and seen in the local cluster. */
type Timed = { readonly sentAtMs: number; readonly answeredAtMs: number; readonly seenAtMs: number };

/** Sends a change. `answered` resolves first, as a rule, and rejects if the change is refused. */
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
  // Whoever waits for the answer may give up before anybody waits for this.
  seen.catch(() => {});
  return { answered, seen };
}

/** Opens the connections beforehand, so that no change waits for a TLS handshake. */
async function connect({ remote }: Bench): Promise<void> {
  await inParallel(Array.from({ length: CONNECTIONS }), CONNECTIONS, () =>
    remote.api.admin.get('/api/v1/namespaces/default'),
  );
}
