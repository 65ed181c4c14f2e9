import type { IpFamily } from '@kube-semaphore/net';
import { printable } from '@kube-semaphore/text';
import { type Context, type ContextChoice, contextsOf, inTime, nameContexts } from '../clusters/contexts.ts';
import { shell } from '../output/shell.ts';
import type { Invocation } from '../output/terminal.ts';
import { isLinked } from '../unlink/leave.ts';
import { UsageError } from '../usage-error.ts';
import { type AnswerOptions, answersOf } from './answers.ts';
import { carryOut, type Mode } from './apply/carry-out.ts';
import type { Choices } from './choices.ts';
import { overlayFor, type Side, sidesOf } from './decide.ts';
import { isOverlay, writeFolder } from './files/folder.ts';
import { VALUES_FILE } from './files/helm-values.ts';
import { manifests } from './files/manifests.ts';
import { readOverlays } from './names.ts';
import { observe } from './findings/observe.ts';
import { isSame, type LinkedCluster, linkJson, type LinkPage, linkText } from './page.ts';
import { unconfirmed } from './range-changes.ts';

export type LinkOptions = ContextChoice &
  AnswerOptions &
  Choices & {
    readonly output: string;
    readonly families?: readonly IpFamily[];
    readonly format: 'text' | 'json';
    readonly diff?: boolean;
    readonly apply?: boolean;
    readonly renew?: boolean;
  };

const DOING: Readonly<Record<Mode, string>> = {
  plan: 'comparing with',
  apply: 'applying to',
  renew: 'renewing tokens of',
};

/** Writes an overlay for each cluster, and applies it if asked to. @returns the exit code */
export async function runLink(options: LinkOptions, { name, terminal, signal }: Invocation): Promise<number> {
  const { format, diff = false, apply = false, renew = false } = options;
  const contexts = await contextsOf(options);
  checkOptions(options, contexts);
  const which = contexts.map((context) => context.name).join(', ');
  const print = (page: LinkPage): void =>
    terminal.print(format === 'json' ? linkJson(page) : linkText(page, { diff, paint: terminal.paint }));
  const refuse = (problems: readonly string[], clusters: readonly LinkedCluster[]): number => {
    print({ isApplied: false, clusters, notes: [], problems });
    for (const problem of problems) terminal.complain(`${name}: ${printable(problem)}\n`);
    terminal.complain(`${name}: nothing was written\n`);
    return 1;
  };

  nameContexts(contexts, terminal);
  const { sides, families, problems } = await terminal.whileWaiting(
    `reading ${which}`,
    readSides(options, contexts, signal),
  );
  if (problems.length > 0) return refuse(problems, sides.map(pageOf));
  const copies = await manifests();
  const clusters = sides.flatMap(({ cluster }) => cluster ?? []);
  const linked = sides.map((side, i) => {
    const cluster = clusters[i]!;
    const remotes = clusters.filter((other) => other !== cluster);
    return {
      ...side,
      cluster,
      api: contexts[i]!,
      overlay: overlayFor(side, cluster, { remotes, families, manifests: copies }),
    };
  });
  if (!renew) {
    const wider = unconfirmed(
      linked.map(({ cluster, answers, overlay }) => ({ cluster, given: answers, changes: overlay.ranges })),
    );
    if (wider.length > 0)
      return refuse(
        wider,
        linked.map((each) => ({ ...pageOf(each), ranges: each.overlay.ranges })),
      );
    for (const { path, overlay } of linked) await writeFolder(path, overlay.change);
  }
  const mode = renew ? 'renew' : apply ? 'apply' : 'plan';
  const done = await terminal.whileWaiting(`${DOING[mode]} ${which}`, carryOut(linked, { mode, signal }));
  const shown = linked.map((each, i): LinkedCluster => {
    const { change, ranges, remotes } = each.overlay;
    const written = renew ? { findings: [] } : { folder: { path: each.path, change }, ranges };
    const names = each.choices.mcs === true ? [...remotes, 'clusterset.local'] : remotes;
    return { ...pageOf(each), ...written, names, ...done.clusters[i] };
  });
  const isApplied = mode !== 'plan';
  const notes = [...done.notes, ...(isApplied ? [] : linked.flatMap((each) => helmNote(each, options)))];
  const { failure } = done;
  if (failure !== undefined) {
    print({ isApplied, clusters: shown, notes, problems: [failure.message] });
    throw failure;
  }
  const next = nextCommand(options, { name, contexts, isDone: isApplied || shown.every(isSame) });
  print({ isApplied, clusters: shown, notes, problems: [], next });
  return 0;
}

/** The least that TokenRequest accepts. */
const MIN_LIFETIME_MS = 600_000;

/** How the name of an image may begin, before a slash. */
const REGISTRY = /^[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)*$/;

/** @throws {UsageError} for what is wrong without a look at a cluster */
function checkOptions({ output, registry, boundTokens }: LinkOptions, contexts: readonly Context[]): void {
  if (contexts.length < 2) throw new UsageError('a link needs two clusters: repeat --context');
  if (['text', 'json', 'yaml'].includes(output))
    throw new UsageError(`-o ${output} would be the folder of the overlays: use --format, or -o ./${output}`);
  if (typeof boundTokens === 'number' && boundTokens < MIN_LIFETIME_MS)
    throw new UsageError('--bound-tokens must be at least 10m: API servers give no shorter tokens');
  if (typeof registry === 'string' && !REGISTRY.test(registry))
    throw new UsageError(
      `--registry ${registry} can't begin the names of images: use one such as registry.example/semaphore`,
    );
}

/** Reads the clusters and the folder. @returns also why they can't be linked @throws {UsageError} */
async function readSides(
  options: LinkOptions,
  contexts: readonly Context[],
  signal: AbortSignal,
): Promise<ReturnType<typeof sidesOf>> {
  const { output, apply = false, renew = false } = options;
  const answers = answersOf(
    options,
    contexts.map(({ name }) => name),
  );
  const observed = await Promise.allSettled(contexts.map((context) => observe(context, { signal })));
  signal.throwIfAborted();
  const failures = observed.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).message] : []));
  const readings = observed.flatMap((each, i) =>
    each.status === 'fulfilled' ? [{ observed: each.value, answers: answers[i]! }] : [],
  );
  const { sides, families, problems } = sidesOf(readings, {
    output,
    overlays: await readOverlays(output),
    given: options,
    families: options.families,
    apply,
  });
  if (renew && failures.length === 0 && !sides.some(({ choices }) => typeof choices.boundTokens === 'number'))
    throw new UsageError('--renew needs --bound-tokens: other tokens do not end');
  const lost = await Promise.all(sides.map((side) => lostOverlay(side, contexts, { options, signal })));
  return { sides, families, problems: [...failures, ...problems, ...lost.flat()] };
}

/** Without its overlay, a linked cluster would lose what an earlier run chose, and its other remotes. */
async function lostOverlay(
  { context: name, path, before, answers }: Side,
  contexts: readonly Context[],
  { options: { apply, renew }, signal }: { readonly options: LinkOptions; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (isOverlay(before)) return [];
  if (renew === true)
    return [`${name}: ${path} has no overlay, which --renew needs: set -o to the folder of the last link`];
  if (answers.name !== undefined) return [];
  const context = inTime(contexts.find((each) => each.name === name)!);
  const isThere = await isLinked({ context }, { signal }).catch((error: Error) => {
    // A plan needs fewer rights.
    if (apply === true) throw error;
    return false;
  });
  return isThere
    ? [
        `${name}: it is linked, but ${path} has no overlay: set -o to the folder of the last link; ` +
          `or if that is lost, set --cluster-name ${name}=${name}`,
      ]
    : [];
}

const pageOf = ({ context, cluster, findings }: Side): LinkedCluster => ({
  context,
  name: cluster?.name,
  findings,
  ranges: [],
  objects: [],
  names: [],
});

/** What comes before --apply, which needs the accounts. */
function helmNote({ choices: { helm = false }, path, context }: Side, { kubeconfig }: LinkOptions): readonly string[] {
  if (!helm) return [];
  const release = [
    'upgrade',
    '--install',
    'kube-semaphore',
    'deploy/charts/kube-semaphore',
    '--namespace',
    'kube-system',
  ];
  const where = [...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]), '--kube-context', context];
  const command = shell('helm', ...release, ...where, '--values', `${path}/${VALUES_FILE}`);
  return [`${context}: Helm installs the apps: ${command}`];
}

/** What to run next. The folder has all that flags chose. */
function nextCommand(
  { kubeconfig, output }: LinkOptions,
  {
    name,
    contexts,
    isDone,
  }: { readonly name: string; readonly contexts: readonly Context[]; readonly isDone: boolean },
): string {
  const which = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...contexts.flatMap((context) => ['--context', context.name]),
  ];
  return `${name} ${isDone ? shell('check', ...which, '--wait', '5m') : shell('link', ...which, '-o', output, '--apply')}`;
}
