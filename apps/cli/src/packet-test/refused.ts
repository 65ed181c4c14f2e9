import { printable } from '@kube-semaphore/text';
import type { Context } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { type AppPod, readStatus } from '../clusters/report.ts';
import { ADVICE } from './source.ts';

/** Packets that WireGuard refused on the node of a Pod while a cluster called that Pod and got no answer. */
export type Refused = {
  readonly from: string;
  readonly to: string;
  readonly node: string;
  readonly packets: number;
};

/** By the name of a remote: how many of its packets were refused so far. */
export type RefusedByRemote = ReadonlyMap<string, number>;

/** How many of a remote's packets were refused meanwhile; 0 if that isn't known. */
export function refusedSince(before: RefusedByRemote, after: RefusedByRemote, remote: string | undefined): number {
  const [from, to] = remote === undefined ? [] : [before.get(remote), after.get(remote)];
  return from === undefined || to === undefined ? 0 : Math.max(to - from, 0);
}

/** It names no cause for certain: packets of other programs may be among them. */
export const refusedLine = ({ from, to, node, packets }: Refused): string =>
  printable(
    `! ${from} to ${to}: meanwhile, WireGuard on the node ${node} refused ${packets} packets: it knows no Pod of the ` +
      `sending node with their source address. If they are of these calls, something in ${from} replaces the ` +
      `address of Pods, or ${to} doesn't know that address (${ADVICE})`,
  );

/** What an agent counted so far. Empty if that isn't known: nothing else depends on it. */
export async function readRefused(context: Context, agent: AppPod | undefined, run: Run): Promise<RefusedByRemote> {
  const status = agent && (await readStatus(context, agent, run));
  if (status === undefined || 'failure' in status) return new Map();
  return new Map(
    status.remotes.flatMap(({ name, refusedPackets }) => (refusedPackets == null ? [] : [[name, refusedPackets]])),
  );
}
