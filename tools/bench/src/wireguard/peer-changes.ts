import { setTimeout as delay } from 'node:timers/promises';
import type { TestClient } from '@kube-semaphore/embedded-apiserver';
import { pollUntil } from '../measure/poll.ts';
import type { Program } from '../measure/program.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { usageOf } from '../measure/usage.ts';
import { announcement, type RemoteNode } from './remote-nodes.ts';
import type { Station } from './station.ts';

/** The result of changed endpoints, one after the other. */
export type PeerChanges = {
  readonly changes: number;
  /** Milliseconds from just before the PATCH until `wg` shows the endpoint, with a write and a watch of an API server. */
  readonly fromRequest: Summary;
  /** The same from the answer on. */
  readonly fromAnswer: Summary;
  /** CPU time of a change in milliseconds, with that of `wg`, without the periodic comparison of the whole device. */
  readonly cpuMs: number;
  /** Calls of `wg set` per change. */
  readonly setCallsPerChange: number;
  /** The maximum of peers in a `wg set`. */
  readonly peersPerCall: number;
};

/** Pause between two polls; a poll takes as long with 1,000 peers. */
const INTERVAL_MS = 10;

/** Longer than `-min-write-interval`, so that no change waits. */
const REST_MS = 500;

/** Until the agent has noticed the end of `wg`. */
const SETTLE_MS = 50;

/** The part of the changes that meet a periodic comparison, at most: these take the most CPU time. */
const DISTURBED = 0.2;

/** Changes the endpoints of remote Nodes, one after the other. */
export async function peerChanges(
  station: Station,
  remote: TestClient,
  { program, nodes, signal }: { program: Program; nodes: readonly RemoteNode[]; signal: AbortSignal },
): Promise<PeerChanges> {
  await station.setCalls();
  const times: { readonly fromRequest: number; readonly fromAnswer: number }[] = [];
  const cpuMs: number[] = [];
  for (const node of nodes) {
    await delay(REST_MS, undefined, { signal });
    const before = await usageOf(program.pid);
    const sentAtMs = performance.now();
    await move(remote, node);
    const answeredAtMs = performance.now();
    const seen = async () => (await station.endpoints()).get(node.publicKey) === node.nextEndpoint;
    const seenAtMs = await pollUntil(seen, { intervalMs: INTERVAL_MS, signal });
    times.push({ fromRequest: seenAtMs - sentAtMs, fromAnswer: seenAtMs - answeredAtMs });
    await delay(SETTLE_MS, undefined, { signal });
    cpuMs.push(((await usageOf(program.pid)).cpuSeconds - before.cpuSeconds) * 1000);
  }
  const calls = await station.setCalls();
  return {
    changes: nodes.length,
    fromRequest: summarize(times.map(({ fromRequest }) => fromRequest)),
    fromAnswer: summarize(times.map(({ fromAnswer }) => fromAnswer)),
    cpuMs: undisturbed(cpuMs),
    setCallsPerChange: calls.length / nodes.length,
    peersPerCall: Math.max(0, ...calls.map((peers) => peers.length)),
  };
}

/** The mean without the largest. The kernel counts in 10 ms, so a median would say little. */
function undisturbed(costs: readonly number[]): number {
  const cheap = costs.toSorted((a, b) => a - b).slice(0, Math.ceil(costs.length * (1 - DISTURBED)));
  return cheap.reduce((sum, cost) => sum + cost, 0) / cheap.length;
}

/** Announces another endpoint, as its agent would. */
async function move(remote: TestClient, { name, publicKey, nextEndpoint }: RemoteNode): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const patch = { metadata: { annotations: announcement({ publicKey, endpoint: nextEndpoint }) } };
  const { status, body } = await remote.request('PATCH', path, patch, { contentType: 'application/merge-patch+json' });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${String(body['message'])}`);
}
