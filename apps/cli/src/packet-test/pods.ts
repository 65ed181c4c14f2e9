import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { readAs, request, type Run, valueOf } from '../clusters/objects.ts';
import type { AppPod } from '../clusters/report.ts';
import { UsageError } from '../usage-error.ts';
import { callerName, MANAGED_BY, podOf } from './objects.ts';
import type { Printed, Target } from './probe.ts';

/** What all Pods and Services of a run are called. */
export type Named = { readonly name: string; readonly namespace: string };

const POLL_MS = 500;

/** How long a Pod may take to start, with the pull of its image, or to finish its calls. */
const POD_MS = 120_000;

/** A run that was killed left two. */
const MOST_FINISHED = 20;

export const newNames = (namespace: string): Named => ({
  name: `semaphore-test-${randomBytes(4).toString('hex')}`,
  namespace,
});

/** @param image chosen by the user; default: that of a Pod of our apps */
export function imageOf({ name }: Context, pods: readonly AppPod[], image: string | undefined): string {
  const chosen = image ?? pods.find((pod) => pod.image !== undefined)?.image;
  if (chosen === undefined)
    throw new UsageError(`${name} has no Pod of an app: set --image to an image with Node.js 24`);
  return chosen;
}

/** What a Pod prints. Its outcomes are in the order of its targets. */
const printed = z.object({
  ips: z.array(z.string()),
  outcomes: z.array(
    z.object({
      small: z.nullable(z.string()),
      full: z.nullable(z.string()),
      sourceAddress: z.nullable(z.string()),
      latencyMs: z.nullable(z.number()),
      bytesPerSecond: z.nullable(z.number()),
    }),
  ),
});

type Caller = Named & { readonly image: string; readonly nodeName?: string | undefined };

const UNKNOWN = {
  small: 'the Pod says nothing of it',
  full: 'not tried',
  sourceAddress: null,
  latencyMs: null,
  bytesPerSecond: null,
};

/** Calls targets from a Pod, which stays. @returns its addresses, and the outcomes in the order of the targets */
export async function callFrom(
  context: Context,
  caller: Caller,
  targets: readonly Target[],
  run: Run,
): Promise<Printed> {
  await create(context, 'pods', podOf(caller, targets), caller, run);
  const named = { ...caller, name: callerName(caller.name) };
  await podIn(context, named, 'Succeeded', run);
  const log = valueOf(await readAs(context, `${pathOf(named, 'pods')}/${named.name}/log`, printed, run));
  const outcomes = targets.map((target, i) => ({ ...target, ...(log?.outcomes[i] ?? UNKNOWN) }));
  return { ips: log?.ips ?? [], outcomes };
}

const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string() }),
  spec: z.object({ nodeName: z.optional(z.string()) }),
  status: z.object({
    phase: z.optional(z.string()),
    podIPs: z.optional(z.array(z.object({ ip: z.string() }))),
  }),
});
const podList = z.object({ items: z.array(pod) });
const created = z.object({ metadata: z.object({ uid: z.string() }) });

const pathOf = ({ namespace }: Pick<Named, 'namespace'>, plural: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;

export async function create(
  context: Context,
  plural: string,
  body: object,
  { namespace }: Pick<Named, 'namespace'>,
  run: Run,
) {
  const made = valueOf(await readAs(context, pathOf({ namespace }, plural), created, run, { body }));
  if (made === undefined) throw new Error(`${context.name}: there is no namespace ${namespace}: create it, or set -n`);
  return made;
}

/** Waits until a Pod is in a phase. @throws Error if it ends in another one, or takes too long */
export async function podIn(context: Context, { name, namespace }: Named, phase: string, run: Run) {
  const until = performance.now() + POD_MS;
  for (;;) {
    const found = valueOf(await readAs(context, `${pathOf({ namespace }, 'pods')}/${name}`, pod, run));
    const is = found === undefined ? 'gone' : found.status.phase;
    if (found !== undefined && is === phase) return found;
    if (is === 'gone' || is === 'Failed' || performance.now() > until)
      throw new Error(`${context.name}: the Pod ${namespace}/${name} is ${is}, not ${phase}: see kubectl get events`);
    await delay(POLL_MS, undefined, run);
  }
}

/** Removes some Pods of runs that were killed. Those of a run elsewhere aren't finished. */
export async function removeFinished(context: Context, { namespace }: Named, run: Run): Promise<void> {
  const selector = Object.entries(MANAGED_BY).map((pair) => pair.join('='));
  const path = `${pathOf({ namespace }, 'pods')}?labelSelector=${encodeURIComponent(selector.join(','))}`;
  const items = valueOf(await readAs(context, path, podList, run))?.items ?? [];
  const finished = items.filter(({ status: { phase } }) => phase === 'Failed' || phase === 'Succeeded');
  const names = finished.slice(0, MOST_FINISHED).map(({ metadata }) => metadata.name);
  await Promise.all(names.map((name) => remove(context, { namespace, name }, run)));
}

/** Removes the Pods of a run, also after an interrupt: the signal must be its own. */
export async function removePods(context: Context, { name, namespace }: Named, run: Run): Promise<void> {
  await Promise.all([name, callerName(name)].map((each) => remove(context, { namespace, name: each }, run)));
}

/** It may not have been created, or be gone. */
async function remove(context: Context, { namespace, name }: Named, run: Run): Promise<void> {
  const path = `${pathOf({ namespace }, 'pods')}/${encodeURIComponent(name)}`;
  valueOf(await request(context, path, run, { method: 'DELETE' }));
}
