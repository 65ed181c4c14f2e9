import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { type Context, type ContextChoice, contextsOf } from '../clusters/contexts.ts';
import { failureOf } from '../clusters/failure.ts';
import { type AppPod, type ClusterReport, readCluster, warnOfLeftOut } from '../clusters/report.ts';
import { ask, RequestError } from '../clusters/request.ts';
import type { Surroundings } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { MANAGED_BY, podOf, serviceOf } from './objects.ts';
import { type Call, isFine, testJson, testText } from './page.ts';
import { type Outcome } from './probe.ts';
import { mirrorLabels, targetsOf } from './targets.ts';

export type TestOptions = ContextChoice & {
  readonly output: 'text' | 'json';
  readonly namespace: string;
  /** Default: that of a Pod of our apps in the cluster. */
  readonly image?: string;
};

const TIMEOUT_MS = 10_000;
const POLL_MS = 500;

/** How long a Pod may take to start, with the pull of its image, or to finish its calls. */
const POD_MS = 120_000;

/** A cluster of the test. */
type Place = { readonly context: Context; readonly pods: readonly AppPod[]; readonly image: string };

/** Sends packets between all clusters, and prints what came through. @returns the exit code */
export async function runTest(options: TestOptions, { terminal, signal }: Surroundings): Promise<number> {
  const contexts = contextsOf(options);
  if (contexts.length < 2) throw new UsageError('a test needs two clusters: use --context twice or more');
  const run = { name: `semaphore-test-${randomBytes(4).toString('hex')}`, namespace: options.namespace };
  const names = contexts.map(({ name }) => name).join(', ');
  const reports = await Promise.all(contexts.map((context) => readCluster(context, { signal })));
  warnOfLeftOut(terminal, reports);
  const places = contexts.map((context, i) => placeOf(context, reports[i]!, options));
  await Promise.all(contexts.map((context) => removeFinished(context, run.namespace, signal)));
  try {
    const calls = await terminal.whileWaiting(`testing ${names}`, callAll(places, run, signal));
    terminal.print(options.output === 'json' ? testJson(calls) : testText(calls, terminal.paint));
    return isFine(calls) ? 0 : 1;
  } finally {
    // Also after an interrupt, so with a signal of its own.
    await Promise.all(contexts.map((context) => removePods(context, run, AbortSignal.timeout(TIMEOUT_MS))));
  }
}

type Run = { readonly name: string; readonly namespace: string };

function placeOf(context: Context, { failure, pods }: ClusterReport, { image }: TestOptions): Place {
  if (failure !== undefined) throw new Error(failure);
  const chosen = image ?? pods.find((pod) => pod.image !== undefined)?.image;
  if (chosen === undefined)
    throw new UsageError(`${context.name} has no Pod of an app: set --image to an image with Node.js 24`);
  return { context, pods, image: chosen };
}

async function callAll(places: readonly Place[], run: Run, signal: AbortSignal): Promise<readonly Call[]> {
  const labels = mirrorLabels(places);
  const sites = await Promise.all(
    places.map(async ({ context, pods, image }) => {
      const made = await create(context, 'pods', podOf({ ...run, image }), run, signal);
      await create(context, 'services', serviceOf({ ...run, image }, made.metadata.uid, labels), run, signal);
      const { status } = await podIn(context, run.name, run, 'Running', signal);
      return { cluster: context.name, pods, ips: status.podIPs?.map(({ ip }) => ip) ?? [] };
    }),
  );
  const calls = await Promise.all(
    places.map(async ({ context, image }, i) => {
      const targets = targetsOf(sites[i]!, sites.toSpliced(i, 1), run);
      const name = `${run.name}-caller`;
      await create(context, 'pods', podOf({ ...run, image }, targets), run, signal);
      await podIn(context, name, run, 'Succeeded', signal);
      const log = await send(context, { path: `${pathOf(run, 'pods')}/${name}/log` }, signal);
      return (JSON.parse(log) as Outcome[]).map((outcome) => ({ from: context.name, ...outcome }));
    }),
  );
  return calls.flat();
}

const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string() }),
  status: z.object({
    phase: z.optional(z.string()),
    podIPs: z.optional(z.array(z.object({ ip: z.string() }))),
  }),
});
const created = z.object({ metadata: z.object({ uid: z.string() }) });

const pathOf = ({ namespace }: Pick<Run, 'namespace'>, plural: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;

const create = async (context: Context, plural: string, body: object, run: Run, signal: AbortSignal) =>
  created.parse(JSON.parse(await send(context, { path: pathOf(run, plural), body }, signal)));

/** Waits until a Pod is in a phase. @throws Error if it ends in another one, or takes too long */
async function podIn(context: Context, name: string, run: Run, phase: string, signal: AbortSignal) {
  const until = performance.now() + POD_MS;
  for (;;) {
    const found = pod.parse(JSON.parse(await send(context, { path: `${pathOf(run, 'pods')}/${name}` }, signal)));
    if (found.status.phase === phase) return found;
    if (found.status.phase === 'Failed' || performance.now() > until)
      throw new Error(
        `${context.name}: the Pod ${run.namespace}/${name} is ${found.status.phase}, not ${phase}: see kubectl describe`,
      );
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Removes Pods of runs that were killed. Those of a run elsewhere aren't finished. */
async function removeFinished(context: Context, namespace: string, signal: AbortSignal): Promise<void> {
  const selector = Object.entries(MANAGED_BY).map((pair) => pair.join('='));
  const path = `${pathOf({ namespace }, 'pods')}?labelSelector=${encodeURIComponent(selector.join(','))}`;
  const { items } = z.object({ items: z.array(pod) }).parse(JSON.parse(await send(context, { path }, signal)));
  const finished = items.filter(({ status: { phase } }) => phase === 'Failed' || phase === 'Succeeded');
  await Promise.all(finished.map(({ metadata: { name } }) => remove(context, namespace, name, signal)));
}

async function removePods(context: Context, { name, namespace }: Run, signal: AbortSignal): Promise<void> {
  await Promise.all([name, `${name}-caller`].map((each) => remove(context, namespace, each, signal)));
}

async function remove(context: Context, namespace: string, name: string, signal: AbortSignal): Promise<void> {
  try {
    await send(context, { method: 'DELETE', path: `${pathOf({ namespace }, 'pods')}/${name}` }, signal);
  } catch (error) {
    // It wasn't created, or it is gone.
    if (!(error instanceof Error && error.cause instanceof RequestError && error.cause.status === 404)) throw error;
  }
}

async function send(context: Context, request: Parameters<typeof ask>[1], signal: AbortSignal): Promise<string> {
  try {
    return (await ask(context, request, { signal, timeoutMs: TIMEOUT_MS })).body;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new Error(failureOf(context, error), { cause: error });
  }
}
