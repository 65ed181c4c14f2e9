import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { type Run, readAs } from '../clusters/objects.ts';
import { httpPort, listOurPods } from '../clusters/report.ts';
import { ADVICE } from './source.ts';

/** Packets that WireGuard refused on the node of a Pod while a cluster called that Pod in vain. */
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
    `! ${from} to ${to}: meanwhile, WireGuard on the node ${node} refused ${packets} packets, as their source is none of the ` +
      `Pod addresses that it knows of the sending node. If they are of these calls, something in ${from} replaces the ` +
      `address of Pods, or ${to} doesn't know that address (${ADVICE})`,
  );

/** The path of the agent's status on a node, if that is known. */
export async function agentPath(context: Context, node: string, run: Run): Promise<string | undefined> {
  const pods = await listOurPods(context, run);
  if (!pods.known) return undefined;
  const isAgent = ({ metadata, spec }: (typeof pods.value.ours)[number]) =>
    metadata.labels['app'] === 'semaphore-wireguard' && spec.nodeName === node;
  const [path] = pods.value.ours.filter(isAgent).flatMap(({ metadata: { namespace, name }, spec }) => {
    const port = httpPort(spec);
    return port === undefined ? [] : [`/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/status`];
  });
  return path;
}

const status = z.object({
  remotes: z.array(z.object({ name: z.string(), refusedPackets: z.nullish(z.number()) })),
});

/** What the agent of a path counted so far. Empty if that isn't known: nothing else depends on it. */
export async function readRefused(context: Context, path: string | undefined, run: Run): Promise<RefusedByRemote> {
  const read = path === undefined ? undefined : await readAs(context, path, status, run);
  const remotes = read?.known === true ? (read.value?.remotes ?? []) : [];
  return new Map(
    remotes.flatMap(({ name, refusedPackets }) => (refusedPackets == null ? [] : [[name, refusedPackets] as const])),
  );
}
