import { type Member, netOf, setOf } from '../load/fleet.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { total, type VerbCounts, since } from '../measure/requests.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { type Bench, CONNECTIONS, giveAddress } from './bench.ts';
import { requestsOf } from './cold-sync.ts';

/** What became of a number of pods that changed their addresses. */
export type Propagation = {
  readonly changes: number;
  /**
   * Milliseconds from just before the PATCH of the pod is sent until the bench's watch of the local sets brings the
   * new address: two writes and two watches of API servers, and the program between them.
   */
  readonly latency: Summary;
  /** Milliseconds of the PATCH alone, which are in `latency` for the most part, whatever the program does. */
  readonly patch: Summary;
  /** Changes of local sets. */
  readonly writes: number;
  /** The program's requests to the local cluster, for each set that changed. */
  readonly requestsPerSet: number;
  readonly requests: VerbCounts;
};

/** How the changes follow each other: so many a second, or each as soon as a connection is free. */
export type Pace = { readonly perSecond: number } | 'as fast as they go';

/** Gives each of the pods a new address. */
export async function propagation(
  bench: Bench,
  members: readonly Member[],
  { pace, account, signal }: { pace: Pace; account: string; signal: AbortSignal },
): Promise<Propagation> {
  const before = await requestsOf(bench, account);
  let writes = 0;
  const unsubscribe = bench.watch.onChange(() => (writes += 1));
  const change = (member: Member) => changeAddress(bench, member, signal);
  await connect(bench);
  const changes =
    pace === 'as fast as they go'
      ? await inParallel(members, CONNECTIONS, change)
      : await atRate(members, pace, change);
  unsubscribe();
  const { local: now } = await requestsOf(bench, account);
  const requests = since(before.local, now);
  return {
    changes: members.length,
    latency: summarize(changes.map(({ latencyMs }) => latencyMs)),
    patch: summarize(changes.map(({ patchMs }) => patchMs)),
    writes,
    requestsPerSet: total(requests) / new Set(members.map(setOf)).size,
    requests,
  };
}

async function changeAddress(
  bench: Bench,
  member: Member,
  signal: AbortSignal,
): Promise<{ latencyMs: number; patchMs: number }> {
  const startMs = performance.now();
  const patched = giveAddress(bench, member).then(() => performance.now());
  const [key, net] = [setOf(member), netOf(member)];
  const seen = bench.watch.until((set) => (set.key === key && set.nets.includes(net) ? set.atMs : undefined), { signal });
  const [patchedAtMs, seenAtMs] = await Promise.all([patched, seen]);
  return { latencyMs: seenAtMs - startMs, patchMs: patchedAtMs - startMs };
}

/** Opens the connections beforehand, so that no change waits for a TLS handshake. */
async function connect({ remote }: Bench): Promise<void> {
  await inParallel(Array.from({ length: CONNECTIONS }), CONNECTIONS, () => remote.api.admin.get('/api/v1/namespaces/default'));
}
