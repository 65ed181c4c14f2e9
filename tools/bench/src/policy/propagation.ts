import { availableParallelism } from 'node:os';
import { type Member, netOf, setOf } from '../load/fleet.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { total, type VerbCounts, since } from '../measure/requests.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { type Bench, giveAddress } from './bench.ts';
import { requestsOf } from './cold-sync.ts';

/** What became of a number of pods that changed their addresses. */
export type Propagation = {
  readonly changes: number;
  /**
   * Milliseconds from just before the PATCH of the pod is sent until the bench's watch of the local sets brings the
   * new address: two writes and two watches of API servers, and the program between them.
   */
  readonly fromPatch: Summary;
  /**
   * The same from the answer to the PATCH on, which leaves out what the API server needs to change a pod of 15 kB with
   * managed fields. The program may have heard of the change a little earlier.
   */
  readonly fromAnswer: Summary;
  /** Changes of local sets. */
  readonly writes: number;
  /** The program's requests to the local cluster, for each of these. */
  readonly requestsPerWrite: number;
  readonly requests: VerbCounts;
};

/** How the changes follow each other: so many a second, or each as soon as a connection is free. */
export type Pace = { readonly perSecond: number } | 'as fast as they go';

/** Keeps the API server busy; with more it would queue them up, and the queue would be what is measured. */
const CONNECTIONS = 2 * availableParallelism();

/** Gives each of the pods a new address. */
export async function propagation(
  bench: Bench,
  members: readonly Member[],
  { pace, account, signal }: { pace: Pace; account: string; signal: AbortSignal },
): Promise<Propagation> {
  const before = await requestsOf(bench, account);
  let writes = 0;
  const unsubscribe = bench.watch.onChange(() => (writes += 1));
  const pending: Promise<Change>[] = [];
  const change = async (member: Member) => {
    const { answered, seen } = changeAddress(bench, member, signal);
    pending.push(seen);
    // The next one goes when this connection is free, however far this change has come.
    await answered;
  };
  await connect(bench);
  if (pace === 'as fast as they go') await inParallel(members, CONNECTIONS, change);
  else await atRate(members, pace, change);
  const changes = await Promise.all(pending);
  unsubscribe();
  const { local: now } = await requestsOf(bench, account);
  const requests = since(before.local, now);
  return {
    changes: members.length,
    fromPatch: summarize(changes.map(({ sentAtMs, seenAtMs }) => seenAtMs - sentAtMs)),
    fromAnswer: summarize(changes.map(({ answeredAtMs, seenAtMs }) => seenAtMs - answeredAtMs)),
    writes,
    requestsPerWrite: total(requests) / writes,
    requests,
  };
}

/** When a change was sent, answered, and seen in the local set. */
type Change = { readonly sentAtMs: number; readonly answeredAtMs: number; readonly seenAtMs: number };

/** Sends a change. `answered` resolves first, as a rule, and rejects if the change is refused. */
function changeAddress(
  bench: Bench,
  member: Member,
  signal: AbortSignal,
): { answered: Promise<number>; seen: Promise<Change> } {
  const sentAtMs = performance.now();
  const answered = giveAddress(bench, member).then(() => performance.now());
  const [key, net] = [setOf(member), netOf(member)];
  const there = bench.watch.until((set) => (set.key === key && set.nets.includes(net) ? set.atMs : undefined), { signal });
  const seen = Promise.all([answered, there]).then(([answeredAtMs, seenAtMs]) => ({ sentAtMs, answeredAtMs, seenAtMs }));
  // Whoever waits for the answer may give up before anybody waits for this.
  seen.catch(() => {});
  return { answered, seen };
}

/** Opens the connections beforehand, so that no change waits for a TLS handshake. */
async function connect({ remote }: Bench): Promise<void> {
  await inParallel(Array.from({ length: CONNECTIONS }), CONNECTIONS, () => remote.api.admin.get('/api/v1/namespaces/default'));
}
