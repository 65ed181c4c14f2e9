import { setTimeout as delay } from 'node:timers/promises';
import {
  apiVersion,
  namespaceKind,
  serviceExportKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { listObjects, type Read, readObject, request, type Run } from '../clusters/objects.ts';
import { readCluster, warnOfSkipped } from '../clusters/report.ts';
import { type Format, pageIn } from '../output/format.ts';
import type { Invocation } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { exportPage, exportText, importOf, isFine, leaveCommands, type Result } from './page.ts';
import { applyExport, removeExport, type ServiceAt, type Writing, type Written } from './service-exports.ts';
import { importOutcome, removalOutcome, type Seen, type Side } from './outcome.ts';

export type ExportOptions = ContextChoice & {
  readonly output: Format;
  readonly namespace?: string;
  readonly importer?: readonly string[];
  readonly exportedLabel?: readonly string[];
  readonly exportedAnnotation?: readonly string[];
  /** Their selector; true: that of the config of semaphore-service-mirror. */
  readonly allGlobal?: string | true;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  /** In milliseconds. */
  readonly wait: number;
};

/** A cluster of the run. */
type Place = Side & { readonly context: Context };

/** A Service, and where it is exported. */
type Exported = ServiceAt & { readonly exporters: readonly Place[] };

/** How many Services are worked on at a time. */
const CONCURRENCY = 8;

const POLL_MS = 500;

/** All global Services may be thousands. */
const EXPORTING_MS = 600_000;

/** Exports Services, or ends that, and prints what the clusters made of it. @returns the exit code */
export async function runExport(
  service: string | undefined,
  options: ExportOptions,
  { terminal, signal }: Invocation,
): Promise<number> {
  const { allGlobal, remove = false, dryRun = false } = options;
  const at = chosenOf(service, options);
  const spec = {
    exportedLabels: pairsOf('--exported-label', options.exportedLabel),
    exportedAnnotations: pairsOf('--exported-annotation', options.exportedAnnotation),
  };
  const timed = async (choice: ContextChoice): Promise<readonly Context[]> =>
    (await contextsOf(choice)).map((context) => inTime(context, EXPORTING_MS + options.wait));
  const contexts = await timed(options);
  const importers = options.importer === undefined ? [] : await timed({ ...options, context: options.importer });
  nameContexts(contexts, terminal);
  const names = new Set(contexts.map(({ name }) => name));
  const clusters = [...contexts, ...importers.filter(({ name }) => !names.has(name))];
  const work = Promise.all(
    clusters.map(async (context): Promise<Place> => ({
      context,
      cluster: context.name,
      report: await readCluster(inTime(context), { signal }),
    })),
  );
  const places = await terminal.whileWaiting(`reading ${clusters.map(({ name }) => name).join(', ')}`, work);
  warnOfSkipped(
    terminal,
    places.map(({ report }) => report),
  );
  const exporters = places.filter(({ context }) => contexts.includes(context));

  const selector = allGlobal === true ? selectorOf(places) : (allGlobal ?? '');
  const found = at === undefined ? await globalServices(exporters, selector, { signal }) : [{ ...at, exporters }];
  if (at !== undefined && !remove) await checkService(at, exporters, { signal });
  const writing = { spec, signal };
  const write = (each: Exported, how: Writing): readonly Promise<Written>[] =>
    each.exporters.map(({ context }) => (remove ? removeExport : applyExport)(context, each, how));
  const orError = (written: Promise<Written>): Promise<Written | Error> =>
    written.catch((error: Error) => {
      signal.throwIfAborted();
      return error;
    });
  // Nothing is written if the API server of one cluster would refuse it. If it does later, what others wrote is shown.
  const dry = await inTurn(found, (each) => Promise.all(write(each, { ...writing, dryRun: true })));
  const written = dryRun
    ? dry
    : await inTurn(found, (each) => Promise.all(write(each, { ...writing, dryRun: false }).map(orError)));

  const untilMs = performance.now() + (dryRun ? 0 : options.wait);
  const follow = inTurn(found, async (each, i): Promise<Result> => {
    const all = places.map(async (place) => {
      const index = each.exporters.indexOf(place);
      const { seen, isDone, problems } = await outcomeOf(each, place, { remove, untilMs, signal });
      const serviceImport = seen.serviceImport.known ? seen.serviceImport.value : undefined;
      const own = written[i]?.[index] ?? null;
      const isLost = own instanceof Error;
      const outcome = {
        cluster: place.cluster,
        export: isLost ? null : own,
        import: importOf(serviceImport),
        problems: dryRun ? [] : [...(isLost ? [own.message] : []), ...problems],
      };
      return { isDone, outcome };
    });
    const done = await Promise.all(all);
    const isReplaced = allGlobal !== undefined && !remove && !dryRun && done.every(({ isDone }) => isDone);
    const { namespace, name } = each;
    return {
      namespace,
      name,
      clusters: done.map(({ outcome }) => outcome),
      next: isReplaced ? leaveCommands(each, { contexts: each.exporters.map(({ cluster }) => cluster), selector }) : [],
    };
  });
  const results = await terminal.whileWaiting(`waiting for ${clusters.map(({ name }) => name).join(', ')}`, follow);
  terminal.print(pageIn(options.output, exportPage(results), () => exportText(results, terminal.paint)));
  if (dryRun) terminal.complain('nothing was written: --dry-run\n');
  return isFine(results) ? 0 : 1;
}

/** The Service of the command line; undefined: all global ones. */
function chosenOf(name: string | undefined, { namespace, allGlobal }: ExportOptions): ServiceAt | undefined {
  if ((name === undefined) !== (allGlobal !== undefined)) throw new UsageError('name one Service, or use --all-global');
  if (name === undefined) {
    if (namespace !== undefined) throw new UsageError('--all-global is for all namespaces: omit --namespace');
    return undefined;
  }
  if (namespace === undefined) throw new UsageError('--namespace is required: that of the Service');
  for (const text of [namespace, name])
    if (!isDnsLabel(text)) throw new UsageError(`"${text}" is not a valid name of a Service or namespace`);
  return { namespace, name };
}

function pairsOf(flag: string, pairs: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`${flag} ${pair} must be key=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** @throws {UsageError} if a cluster has no such Service, or one that can't be exported */
async function checkService(at: ServiceAt, exporters: readonly Place[], run: Run): Promise<void> {
  const service = `${at.namespace}/${at.name}`;
  for (const { context } of exporters) {
    const read = await readObject(context, serviceKind, at, run);
    if (!read.known) throw new Error(read.why);
    if (read.value === undefined)
      throw new UsageError(
        `${context.name} has no Service ${service}: create it, or use --importer for a cluster that only imports`,
      );
    if (read.value.spec.type === 'ExternalName')
      throw new UsageError(`${context.name}: Service ${service} has the type ExternalName, which can't be exported`);
  }
}

/** What selects global Services, as the apps say. */
function selectorOf(places: readonly Place[]): string {
  const statuses = places.flatMap(({ report }) => report.pods.map(({ status }) => status));
  const found = new Set(
    statuses.flatMap((status) => ('failure' in status ? [] : (status.config.globalSelector ?? []))),
  );
  const [selector] = found;
  if (selector === undefined || found.size > 1)
    throw new UsageError(
      found.size > 1
        ? `the clusters select global Services by ${[...found].join(' and ')}: use --all-global with one of them`
        : 'no semaphore-service-mirror says what selects global Services: use --all-global with a label selector',
    );
  return selector;
}

/** The global Services of some clusters, sorted, without those that can't be exported. */
async function globalServices(places: readonly Place[], labelSelector: string, run: Run): Promise<readonly Exported[]> {
  const lists = await Promise.all(
    places.map(async (place) => {
      const read = await listObjects(place.context, serviceKind, { labelSelector }, run);
      if (!read.known) throw new Error(read.why);
      return read.value
        .filter(({ spec }) => spec.type !== 'ExternalName')
        .map(({ metadata: { namespace, name } }) => ({ namespace, name, place }));
    }),
  );
  const byService = Map.groupBy(lists.flat(), ({ namespace, name }) => `${namespace}/${name}`);
  if (byService.size === 0) throw new UsageError(`no cluster has a Service with the labels ${labelSelector}`);
  return [...byService]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [first, ...others]]) => ({
      namespace: first!.namespace,
      name: first!.name,
      exporters: [first!, ...others].map(({ place }) => place),
    }));
}

/** What a cluster made of it, when that is done, or the time is over. */
async function outcomeOf(
  { exporters, namespace, name }: Exported,
  place: Place,
  { remove, untilMs, signal }: { readonly remove: boolean; readonly untilMs: number; readonly signal: AbortSignal },
) {
  const at = { namespace, name };
  for (;;) {
    const seen = await observe(place, at, { isExporter: exporters.includes(place) && !remove, signal });
    const outcome = remove ? removalOutcome(seen, exporters) : importOutcome(seen, at, exporters);
    if (outcome.isDone || performance.now() > untilMs) return { seen, ...outcome };
    await delay(POLL_MS, undefined, { signal });
  }
}

async function observe(
  { context, cluster, report }: Place,
  at: ServiceAt,
  { isExporter, signal }: { readonly isExporter: boolean; readonly signal: AbortSignal },
): Promise<Seen> {
  // First: its status is the last write, after the conditions of the export.
  const serviceImport = await readObject(context, serviceImportKind, at, { signal });
  const [serviceExport, namespace, group] = await Promise.all([
    isExporter ? readObject(context, serviceExportKind, at, { signal }) : undefined,
    readObject(context, namespaceKind, { name: at.namespace }, { signal }),
    request(context, `/apis/${apiVersion(serviceImportKind)}`, { signal }),
  ]);
  const hasKinds: Read<boolean> = group.known ? { known: true, value: group.value !== undefined } : group;
  return { cluster, report, serviceExport, serviceImport, namespace, hasKinds };
}

/** Works on some items at a time. @returns the results in the order of the items */
async function inTurn<T, R>(items: readonly T[], work: (item: T, i: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [i, item] of left) results[i] = await work(item, i);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}
