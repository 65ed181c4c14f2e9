import { serviceKind } from '@kube-semaphore/kube-objects';
import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { readObject, type Run, valueOf } from '../clusters/objects.ts';
import { type AppPod, readCluster, warnOfSkipped } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import { complainOf, type Invocation } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { DEADLINE_SECONDS, podOf, serviceOf } from './objects.ts';
import { type Call, type Found, isFine, testPage, testText } from './page.ts';
import { callFrom, create, imageOf, type Named, newNames, podIn, removeFinished, removePods } from './pods.ts';
import { readRefused, type Refused, type RefusedByRemote, refusedSince } from './refused.ts';
import { sourceFailure } from './source.ts';
import { addressesIn, mirrorLabels, portTargets, serviceIn, type Site, targetsOf, tunnelName } from './targets.ts';

export type TestOptions = ContextChoice & {
  readonly output: Format;
  readonly namespace: string;
  /** Default: that of a Pod of our apps in the cluster. */
  readonly image?: string;
  /** Services to call, instead of one of our own: `namespace/name`. */
  readonly service?: readonly string[];
};

/** A cluster of the test. */
type Place = { readonly context: Context; readonly pods: readonly AppPod[]; readonly image: string };

/** Sends packets between all clusters, and prints what came through. @returns the exit code */
export async function runTest(options: TestOptions, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation;
  const contexts = await contextsOf(options);
  if (contexts.length < 2) throw new UsageError('a test needs two clusters: use --context twice or more');
  const services = (options.service ?? []).map(serviceIn);
  nameContexts(contexts, terminal);
  const named = newNames(options.namespace);
  const reports = await Promise.all(contexts.map((context) => readCluster(inTime(context), { signal })));
  warnOfSkipped(terminal, reports);
  const places = contexts.flatMap((context, i) => {
    const { failure, pods } = reports[i]!;
    return failure === undefined ? [{ context, pods, image: imageOf(context, pods, options.image) }] : [];
  });
  const failures = reports.flatMap(({ failure }) => failure ?? []);
  const isPossible = places.length > 1;
  let found: Found = { calls: [], refused: [] };
  try {
    const run = { signal, failures };
    const call = () =>
      services.length === 0 ? callAll(places, named, run) : callServices(places, services, named, run);
    const work = isPossible ? call() : Promise.resolve(found);
    found = await terminal.whileWaiting(`testing ${places.map(({ context }) => context.name).join(', ')}`, work);
  } finally {
    // Also after an interrupt, so with a signal of its own.
    const last = { signal: new AbortController().signal, failures };
    if (isPossible) await settled(places, last, ({ context }) => removePods(context, named, last));
  }
  terminal.print(pageIn(options.output, testPage(found), () => testText(found, terminal.paint)));
  for (const failure of failures) complainOf(invocation, failure);
  return isFine(found.calls) && failures.length === 0 ? 0 : 1;
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
    const { ips, outcomes } = await callFrom(context, { ...named, image }, targets, run);
    const own = addressesIn(ips.map((ip) => ({ ip })));
    return outcomes.map((outcome) => ({
      from: cluster,
      ...outcome,
      source: sourceFailure(outcome.sourceAddress, own),
    }));
  });
  return { calls: calls.flat(), refused: await refusedOf(sites, calls.flat(), run) };
}

/** Connects to Services of users from each cluster that mirrors one that has them. @throws {UsageError} if none has one */
async function callServices(
  places: readonly Place[],
  services: readonly Pick<Named, 'namespace' | 'name'>[],
  named: Named,
  run: Reported,
): Promise<Found> {
  const sites = await settled(places, run, async ({ context, ...place }) => {
    const timed = inTime(context, DEADLINE_SECONDS * 1_000);
    const reads = await Promise.all(services.map((at) => readObject(timed, serviceKind, at, run)));
    return { ...place, context: timed, cluster: context.name, found: reads.flatMap((read) => valueOf(read) ?? []) };
  });
  const known = new Set(sites.flatMap(({ found }) => found.map(({ metadata: at }) => `${at.namespace}/${at.name}`)));
  const missing = services.map(({ namespace, name }) => `${namespace}/${name}`).find((each) => !known.has(each));
  // One that can't be read may have it.
  if (missing !== undefined && run.failures.length === 0)
    throw new UsageError(`no cluster has the Service ${missing}: correct --service`);
  const calls = await settled(sites, run, async (site): Promise<readonly Call[]> => {
    const ways = sites.flatMap((other) => (other === site ? [] : other.found.map((service) => ({ other, service }))));
    const targets = ways.flatMap(({ other, service }) => {
      const found = portTargets(site, other, service);
      const { namespace, name } = service.metadata;
      const what = `${namespace}/${name} of ${other.cluster}`;
      if (found === undefined)
        run.failures.push(`${site.cluster}: its semaphore-service-mirror does not mirror ${what}: see semaphore check`);
      else if (found.length === 0) run.failures.push(`${what} has no TCP port to connect to`);
      return found ?? [];
    });
    if (targets.length === 0) return [];
    await removeFinished(site.context, named, run);
    const { outcomes } = await callFrom(site.context, { ...named, image: site.image }, targets, run);
    return outcomes.map((outcome) => ({ from: site.cluster, ...outcome, source: null }));
  });
  return { calls: calls.flat(), refused: [] };
}

/** What the nodes of called Pods refused of clusters that got no answer from them. */
async function refusedOf(sites: readonly Called[], calls: readonly Call[], run: Run): Promise<readonly Refused[]> {
  const found = sites.map(async ({ context, cluster: to, node, agent, before }): Promise<readonly Refused[]> => {
    // A name that isn't known was not even called.
    const failed = calls.filter((call) => call.to === to && call.small !== null && call.by !== 'name');
    const unanswered = new Set(failed.map((call) => call.from));
    const after = unanswered.size === 0 ? before : await readRefused(context, agent, run);
    return sites.flatMap((site) => {
      const { cluster: from } = site;
      const packets = unanswered.has(from) ? refusedSince(before, after, tunnelName(site)) : 0;
      return packets > 0 ? [{ from, to, node, packets }] : [];
    });
  });
  return (await Promise.all(found)).flat();
}
