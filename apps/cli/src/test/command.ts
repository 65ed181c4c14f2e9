import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { readAs, request, type Run, valueOf } from '../clusters/objects.ts';
import { type AppPod, readCluster, warnOfLeftOut } from '../clusters/report.ts';
import type { Surroundings } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { DEADLINE_SECONDS, MANAGED_BY, podOf, serviceOf } from './objects.ts';
import { type Call, type Found, isFine, testJson, testText } from './page.ts';
import { readRefused, type Refused, type RefusedByRemote, refusedSince } from './refused.ts';
import { sourceFailure } from './source.ts';
import { addressesIn, mirrorLabels, type Site, targetsOf, tunnelName } from './targets.ts';

export type TestOptions = ContextChoice & {
  readonly output: 'text' | 'json';
  readonly namespace: string;
  /** Default: that of a Pod of our apps in the cluster. */
  readonly image?: string;
};

const POLL_MS = 500;

/** How long a Pod may take to start, with the pull of its image, or to finish its calls. */
const POD_MS = 120_000;

/** A run that was killed left two. */
const MOST_FINISHED = 20;

/** A cluster of the test. */
type Place = { readonly context: Context; readonly pods: readonly AppPod[]; readonly image: string };

/** What all Pods and Services of this test are called. */
type Named = { readonly name: string; readonly namespace: string };

/** Sends packets between all clusters, and prints what came through. @returns the exit code */
export async function runTest(options: TestOptions, { terminal, signal }: Surroundings): Promise<number> {
  const contexts = await contextsOf(options);
  if (contexts.length < 2) throw new UsageError('a test needs two clusters: use --context twice or more');
  nameContexts(contexts, terminal);
  const named = { name: `semaphore-test-${randomBytes(4).toString('hex')}`, namespace: options.namespace };
  const reports = await Promise.all(contexts.map((context) => readCluster(inTime(context), { signal })));
  warnOfLeftOut(terminal, reports);
  const places = contexts.flatMap((context, i) => {
    const { failure, pods } = reports[i]!;
    return failure === undefined ? [{ context, pods, image: imageOf(context, pods, options) }] : [];
  });
  const failures = reports.flatMap(({ failure }) => failure ?? []);
  const isPossible = places.length > 1;
  let found: Found = { calls: [], refused: [] };
  try {
    const work = isPossible ? callAll(places, named, { signal, failures }) : Promise.resolve(found);
    found = await terminal.whileWaiting(`testing ${places.map(({ context }) => context.name).join(', ')}`, work);
  } finally {
    // Also after an interrupt, so with a signal of its own.
    const last = { signal: new AbortController().signal, failures };
    if (isPossible) await settled(places, last, ({ context }) => removePods(context, named, last));
  }
  terminal.print(options.output === 'json' ? testJson(found) : testText(found, terminal.paint));
  for (const failure of failures) terminal.complain(`${printable(failure)}\n`);
  return isFine(found.calls) && failures.length === 0 ? 0 : 1;
}

function imageOf({ name }: Context, pods: readonly AppPod[], { image }: TestOptions): string {
  const chosen = image ?? pods.find((pod) => pod.image !== undefined)?.image;
  if (chosen === undefined)
    throw new UsageError(`${name} has no Pod of an app: set --image to an image with Node.js 24`);
  return chosen;
}

/** Gets the sentences of clusters that drop out. */
type Reported = Run & { readonly failures: string[] };

/** What `work` makes of the items for which it does not fail. Rejects only when the signal is aborted. */
async function settled<T, R>(
  items: readonly T[],
  { signal, failures }: Reported,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const all = items.map(async (item) => {
    try {
      return [await work(item)];
    } catch (error) {
      signal.throwIfAborted();
      failures.push((error as Error).message);
      return [];
    }
  });
  return (await Promise.all(all)).flat();
}

/** A cluster with its answering Pod, and what WireGuard had refused on that Pod's node before it was called. */
type Called = Site &
  Place & { readonly node: string; readonly agent: AppPod | undefined; readonly before: RefusedByRemote };

async function callAll(places: readonly Place[], named: Named, run: Reported): Promise<Found> {
  const labels = mirrorLabels(places);
  const sites = await settled(places, run, async ({ context, pods, image }): Promise<Called> => {
    // The kubelet ends the Pods then.
    const timed = inTime(context, DEADLINE_SECONDS * 1_000);
    await removeFinished(timed, named, run);
    const { metadata } = await create(timed, 'pods', podOf({ ...named, image }), named, run);
    await create(timed, 'services', serviceOf({ ...named, image }, metadata.uid, labels), named, run);
    const { spec, status } = await podIn(timed, named, 'Running', run);
    const { nodeName: node = '' } = spec;
    const agent = pods.find((pod) => pod.app === 'semaphore-wireguard' && pod.node === node);
    const before = await readRefused(timed, agent, run);
    return { context: timed, pods, image, cluster: context.name, ips: addressesIn(status.podIPs), node, agent, before };
  });
  const calls = await settled(sites, run, async (site): Promise<readonly Call[]> => {
    const { context, image, cluster } = site;
    const others = sites.filter((each) => each !== site);
    const targets = targetsOf(site, others, named);
    const caller = { ...named, name: `${named.name}-caller` };
    await create(context, 'pods', podOf({ ...named, image }, targets), named, run);
    await podIn(context, caller, 'Succeeded', run);
    const log = valueOf(await readAs(context, `${pathOf(named, 'pods')}/${caller.name}/log`, printed, run));
    const own = addressesIn(log?.ips.map((ip) => ({ ip })));
    return targets.map((target, i) => {
      const outcome = log?.outcomes[i] ?? UNKNOWN;
      return { from: cluster, ...target, ...outcome, source: sourceFailure(outcome.sourceAddress, own) };
    });
  });
  return { calls: calls.flat(), refused: await refusedOf(sites, calls.flat(), run) };
}

/** What the nodes of called Pods refused of clusters that called them in vain. */
async function refusedOf(sites: readonly Called[], calls: readonly Call[], run: Run): Promise<readonly Refused[]> {
  const found = sites.map(async ({ context, cluster: to, node, agent, before }): Promise<readonly Refused[]> => {
    // A name that isn't known was not even called.
    const inVain = calls.filter((call) => call.to === to && call.small !== null && call.by !== 'name');
    const unanswered = new Set(inVain.map((call) => call.from));
    const after = unanswered.size === 0 ? before : await readRefused(context, agent, run);
    return sites.flatMap((site) => {
      const { cluster: from } = site;
      const packets = unanswered.has(from) ? refusedSince(before, after, tunnelName(site)) : 0;
      return packets > 0 ? [{ from, to, node, packets }] : [];
    });
  });
  return (await Promise.all(found)).flat();
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

const UNKNOWN = {
  small: 'the Pod says nothing of it',
  full: 'not tried',
  sourceAddress: null,
  latencyMs: null,
  bytesPerSecond: null,
};

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

async function create(context: Context, plural: string, body: object, { namespace }: Named, run: Run) {
  const made = valueOf(await readAs(context, pathOf({ namespace }, plural), created, run, { body }));
  if (made === undefined) throw new Error(`${context.name}: there is no namespace ${namespace}: create it, or set -n`);
  return made;
}

/** Waits until a Pod is in a phase. @throws Error if it ends in another one, or takes too long */
async function podIn(context: Context, { name, namespace }: Named, phase: string, run: Run) {
  const until = performance.now() + POD_MS;
  for (;;) {
    const found = valueOf(await readAs(context, `${pathOf({ namespace }, 'pods')}/${name}`, pod, run));
    const is = found === undefined ? 'gone' : found.status.phase;
    if (found !== undefined && is === phase) return found;
    if (is === 'gone' || is === 'Failed' || performance.now() > until)
      throw new Error(`${context.name}: the Pod ${namespace}/${name} is ${is}, not ${phase}: see kubectl describe`);
    await delay(POLL_MS, undefined, run);
  }
}

/** Removes some Pods of runs that were killed. Those of a run elsewhere aren't finished. */
async function removeFinished(context: Context, { namespace }: Named, run: Run): Promise<void> {
  const selector = Object.entries(MANAGED_BY).map((pair) => pair.join('='));
  const path = `${pathOf({ namespace }, 'pods')}?labelSelector=${encodeURIComponent(selector.join(','))}`;
  const items = valueOf(await readAs(context, path, podList, run))?.items ?? [];
  const finished = items.filter(({ status: { phase } }) => phase === 'Failed' || phase === 'Succeeded');
  const names = finished.slice(0, MOST_FINISHED).map(({ metadata }) => metadata.name);
  await Promise.all(names.map((name) => remove(context, { namespace, name }, run)));
}

async function removePods(context: Context, { name, namespace }: Named, run: Run): Promise<void> {
  await Promise.all([name, `${name}-caller`].map((each) => remove(context, { namespace, name: each }, run)));
}

/** It may not have been created, or be gone. */
async function remove(context: Context, { namespace, name }: Named, run: Run): Promise<void> {
  const path = `${pathOf({ namespace }, 'pods')}/${encodeURIComponent(name)}`;
  valueOf(await request(context, path, run, { method: 'DELETE' }));
}
