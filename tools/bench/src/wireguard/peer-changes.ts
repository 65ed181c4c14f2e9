import { setTimeout as delay } from 'node:timers/promises';
import type { TestClient } from '@kube-semaphore/embedded-apiserver';
import { pollUntil } from '../measure/poll.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { announcement, type RemoteNode } from './remote-nodes.ts';
import type { Station } from './station.ts';

/** The result of changed endpoints, one after the other. */
export type PeerChanges = {
  readonly changes: number;
  /** Milliseconds from just before the PATCH until `wg` shows the endpoint, with a write and a watch of an API server. */
  readonly fromRequest: Summary;
  /** The same from the answer on. */
  readonly fromAnswer: Summary;
  /** Calls of `wg set` per change. */
  readonly setCallsPerChange: number;
  /** The maximum of peers in a `wg set`. */
  readonly peersPerCall: number;
};

/** Pause between two polls; a poll takes as long with 1,000 peers. */
const INTERVAL_MS = 10;

/** Longer than `-min-write-interval`, so that no change waits. */
const REST_MS = 500;

/** Changes the endpoints of remote Nodes, one after the other. */
export async function peerChanges(
  station: Station,
  remote: TestClient,
  { nodes, signal }: { nodes: readonly RemoteNode[]; signal: AbortSignal },
): Promise<PeerChanges> {
  await station.setCalls();
  const times: { readonly fromRequest: number; readonly fromAnswer: number }[] = [];
  for (const node of nodes) {
    await delay(REST_MS, undefined, { signal });
    const sentAtMs = performance.now();
    await move(remote, node);
    const answeredAtMs = performance.now();
    const seen = async () => (await station.endpoints()).get(node.publicKey) === node.nextEndpoint;
    const seenAtMs = await pollUntil(seen, { intervalMs: INTERVAL_MS, signal });
    times.push({ fromRequest: seenAtMs - sentAtMs, fromAnswer: seenAtMs - answeredAtMs });
  }
  const calls = await station.setCalls();
  return {
    changes: nodes.length,
    fromRequest: summarize(times.map(({ fromRequest }) => fromRequest)),
    fromAnswer: summarize(times.map(({ fromAnswer }) => fromAnswer)),
    setCallsPerChange: calls.length / nodes.length,
    peersPerCall: Math.max(0, ...calls.map((peers) => peers.length)),
  };
}

/** Announces another endpoint, as its agent would. */
async function move(remote: TestClient, { name, publicKey, nextEndpoint }: RemoteNode): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const patch = { metadata: { annotations: announcement({ publicKey, endpoint: nextEndpoint }) } };
  const { status, body } = await remote.request('PATCH', path, patch, { contentType: 'application/merge-patch+json' });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${String(body['message'])}`);
}
