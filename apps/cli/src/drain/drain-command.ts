import { setTimeout as delay } from 'node:timers/promises';
import { type EndpointSlice, endpointSliceKind } from '@kube-semaphore/kube-objects';
import {
  importNameLabel,
  MOST_DRAIN_CHARACTERS,
  mirroredSliceLabel,
  sliceManagedByLabel,
  sliceManager,
} from '@kube-semaphore/service-mirror/names';
import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { listObjects, type Read, type Run, valueOf } from '../clusters/objects.ts';
import { readCluster, readStatus, warnOfSkipped } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Invocation } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { type DrainDetails, whoAmI, writeDrain } from './drains.ts';
import { type Effect, effectOf } from './effect.ts';
import { type Drained, drainPage, drainPlanText, drainText, isFine } from './page.ts';
import { drainIn, meshOf, type Mirror, mirrorOf } from './mirror.ts';

export type DrainOptions = ContextChoice & {
  readonly output: Format;
  readonly reason?: string;
  readonly dryRun?: boolean;
  /** In milliseconds. */
  readonly wait: number;
};

/** A cluster where another one is drained. */
type Place = Mirror & { readonly context: Context };

type Change = { readonly cluster: string; readonly isDrain: boolean };

const POLL_MS = 500;

/** Has clusters use the endpoints of another one last, and waits until they do. @returns the exit code */
export const runDrain = (cluster: string, options: DrainOptions, invocation: Invocation): Promise<number> =>
  carryOut({ cluster, isDrain: true }, options, invocation);

/** Ends that. @returns the exit code */
export const runUndrain = (cluster: string, options: DrainOptions, invocation: Invocation): Promise<number> =>
  carryOut({ cluster, isDrain: false }, options, invocation);

async function carryOut(change: Change, options: DrainOptions, { terminal, signal }: Invocation): Promise<number> {
  const { cluster } = change;
  const { reason, dryRun = false, output, wait } = options;
  if (reason !== undefined && reason.length > MOST_DRAIN_CHARACTERS)
    throw new UsageError(`--reason has ${reason.length} characters, at most ${MOST_DRAIN_CHARACTERS} are allowed`);
  const contexts = await contextsOf(options);
  nameContexts(contexts, terminal);
  const names = contexts.map(({ name }) => name).join(', ');
  const work = Promise.all(contexts.map((context) => readCluster(inTime(context), { signal })));
  const reports = await terminal.whileWaiting(`reading ${names}`, work);
  warnOfSkipped(terminal, reports);
  const [failure] = reports.flatMap((report) => report.failure ?? []);
  if (failure !== undefined) throw new Error(failure);
  const places = contexts.map((context, i): Place => ({ context, ...mirrorOf(reports[i]!, change) }));
  const unreached = meshOf(reports).filter((name) => !places.some(({ own }) => own === name));
  const before = await Promise.all(places.map((place) => effectAt(place, cluster, { signal })));
  const plan = places.map(({ context, drain }, i): Drained => ({
    cluster: context.name,
    change: changeOf(change, { drain, reason }),
    before: drain ?? null,
    ...valueOf(before[i]!),
    pending: [],
  }));
  const about = { ...change, unreached };
  if (output === 'text') terminal.print(drainPlanText(plan, about, terminal.paint));

  const writing = places.filter((_, i) => plan[i]!.change !== 'unchanged');
  const details = await Promise.all(writing.map(({ context }) => detailsOf(context, change, { reason, signal })));
  const write = (isDry: boolean): Promise<unknown> =>
    Promise.all(
      writing.flatMap(({ context, namespaces }, i) =>
        namespaces.map((namespace) =>
          writeDrain(context, { namespace, cluster, details: details[i], dryRun: isDry }, { signal }),
        ),
      ),
    );
  // Nothing is written if the API server of one cluster would refuse it.
  await write(true);
  if (dryRun) {
    if (output !== 'text') terminal.print(pageIn(output, drainPage(plan, about), () => ''));
    terminal.complain('nothing was written: --dry-run\n');
    return 0;
  }
  await write(false);
  const untilMs = performance.now() + wait;
  const following = Promise.all(
    plan.map(async (each, i) => ({ ...each, pending: await pendingAt(places[i]!, change, { untilMs, signal }) })),
  );
  const done = await terminal.whileWaiting(`waiting for ${names}`, following);
  terminal.print(pageIn(output, drainPage(done, about), () => drainText(done, about, terminal.paint)));
  return isFine(done) ? 0 : 1;
}

/** A reason is new, so it is written also if the cluster is drained. */
function changeOf(
  { isDrain }: Change,
  { drain, reason }: { readonly drain: Place['drain']; readonly reason: string | undefined },
): Drained['change'] {
  if (!isDrain) return drain === undefined ? 'unchanged' : 'undrained';
  return drain === undefined || (reason !== undefined && reason !== drain.reason) ? 'drained' : 'unchanged';
}

async function detailsOf(
  context: Context,
  { isDrain }: Change,
  { reason, signal }: Run & { readonly reason: string | undefined },
): Promise<DrainDetails | undefined> {
  if (!isDrain) return undefined;
  return { since: new Date().toISOString(), by: await whoAmI(context, { signal }), reason };
}

/** What the drain does there, or still has to do. */
async function effectAt(
  { context, namespaces, hasImports, drained }: Place,
  cluster: string,
  run: Run,
): Promise<Read<Effect>> {
  const globals = await Promise.all(
    namespaces.map((namespace) =>
      listObjects(context, endpointSliceKind, { namespace, labelSelector: `${mirroredSliceLabel}=true` }, run),
    ),
  );
  const ofImports = `${sliceManagedByLabel}=${sliceManager},${importNameLabel}`;
  const imports = hasImports ? [await listObjects(context, endpointSliceKind, { labelSelector: ofImports }, run)] : [];
  const slices: EndpointSlice[] = [];
  for (const list of [...globals, ...imports]) {
    if (!list.known) return list;
    slices.push(...list.value);
  }
  return { known: true, value: effectOf(slices, cluster, drained) };
}

/** What isn't done when it all is, or the time is over. */
async function pendingAt(
  place: Place,
  change: Change,
  { untilMs, signal }: Run & { readonly untilMs: number },
): Promise<readonly string[]> {
  for (;;) {
    const pending = await observe(place, change, { signal });
    if (pending.length === 0 || performance.now() > untilMs) return pending;
    await delay(POLL_MS, undefined, { signal });
  }
}

async function observe(place: Place, { cluster, isDrain }: Change, run: Run): Promise<readonly string[]> {
  const context = inTime(place.context);
  const statuses = await Promise.all(place.pods.map((pod) => readStatus(context, pod, run)));
  const leaders = statuses.flatMap((status) => ('failure' in status || status.leader !== true ? [] : [status]));
  if (leaders.length === 0) return ['no semaphore-service-mirror that writes reports its status'];
  if (leaders.some((status) => (drainIn(status, cluster) !== undefined) !== isDrain))
    return ['semaphore-service-mirror has not read it yet'];
  if (!isDrain) return [];
  const effect = await effectAt(place, cluster, run);
  return effect.known ? effect.value.moving.map((service) => `${service} still prefers ${cluster}`) : [effect.why];
}
