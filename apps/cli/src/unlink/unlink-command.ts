import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { namespaceKind } from '@kube-semaphore/kube-objects';
import { type Context, type ContextChoice, contextsOf, nameContexts } from '../clusters/contexts.ts';
import { readObject, type Run, valueOf } from '../clusters/objects.ts';
import { answersOf } from '../link/answers.ts';
import { LinkApi } from '../link/apply/api.ts';
import { render } from '../link/apply/apply.ts';
import { choicesIn } from '../link/choices.ts';
import { type Change, COPIES, type Files, isOverlay, writeFolder } from '../link/files/folder.ts';
import { nameOf, type Overlays, readOverlays } from '../link/names.ts';
import { diffLines } from '../link/page.ts';
import { complainOf, type Invocation, type Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { filesWithout } from './files.ts';
import { isLinked, leave } from './leave.ts';

export type UnlinkOptions = ContextChoice & {
  readonly output: string;
  readonly clusterName?: readonly string[];
  /** Names of clusters that leave all others. */
  readonly leaving?: readonly string[];
  readonly apply?: boolean;
  readonly coredns: boolean;
};

/** Removes the links between clusters, or all links of some. @returns the exit code */
export async function runUnlink(options: UnlinkOptions, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation;
  const { output, leaving = [], apply = false, coredns } = options;
  const run = { signal };
  const { found, overlays } = await readClusters(options, invocation);
  const named = found.flatMap(({ context, name }) => (name.ok ? [{ context, name: name.value }] : []));
  const asked = { output, leaving, overlays, names: named.map(({ name }) => name) };
  const clusters = named.map((cluster) => partOf(cluster, asked, terminal));
  const problems = [
    ...found.flatMap(({ name }) => (name.ok ? [] : [name.problem])),
    ...readersLeft(clusters, asked),
    ...(await withoutOverlay(clusters, run)),
  ];
  if (problems.length > 0) {
    for (const problem of [...problems, 'nothing was changed']) complainOf(invocation, problem);
    return 1;
  }
  for (const { folder, remaining, ...change } of clusters) {
    const lines = shownLines(folder, change, terminal.paint);
    terminal.print(lines.length === 0 ? `${folder}: nothing changes\n` : `${lines.join('\n')}\n`);
    // The files of a cluster without remotes go last.
    if (remaining.length > 0) await writeFolder(folder, change);
  }
  if (apply) await carryOut(clusters, { coredns }, run);
  return 0;
}

type NamedContext = { readonly context: Context; readonly name: ReturnType<typeof nameOf> };

/** Reads the folder, and what the clusters are called there; also whether each is reached, before anything changes. */
async function readClusters(
  options: UnlinkOptions,
  { terminal, signal }: Invocation,
): Promise<{ readonly found: readonly NamedContext[]; readonly overlays: Overlays }> {
  const { output, clusterName = [], leaving = [] } = options;
  const contexts = await contextsOf(options);
  if (contexts.length < 2 && leaving.length === 0)
    throw new UsageError('an unlink needs two clusters: repeat --context, or name one that leaves with --leaving');
  if (!existsSync(output)) throw new UsageError(`there is no folder ${output}: set -o to the folder of semaphore link`);
  const all = contexts.map(({ name }) => name);
  const answers = answersOf({ clusterName }, all);
  nameContexts(contexts, terminal);
  const work = Promise.all(contexts.map((context) => uidOf(context, { signal })));
  const uids = await terminal.whileWaiting(`reading ${all.join(', ')}`, work);
  const overlays = await readOverlays(output);
  const found = contexts.map((context, i) => {
    const nameless = { context: context.name, uid: uids[i], given: answers[i]!.name };
    return { context, name: nameOf(nameless, { output, uids: overlays.uids }) };
  });
  return { found, overlays };
}

/** Which links go. */
type Asked = {
  readonly output: string;
  readonly overlays: Overlays;
  /** Of the given clusters. */
  readonly names: readonly string[];
  /** Of clusters that leave all others; without any, the given ones lose each other. */
  readonly leaving: readonly string[];
};

/** What a cluster loses, and its folder without that. */
type Part = Change & {
  readonly context: Context;
  readonly name: string;
  readonly folder: string;
  readonly removed: readonly string[];
  readonly remaining: readonly string[];
  readonly report: (sentence: string) => void;
};

function partOf(
  { context, name }: Pick<Part, 'context' | 'name'>,
  { output, overlays, names, leaving }: Asked,
  { print }: Terminal,
): Part {
  const before: Files = overlays.existing.get(name) ?? new Map();
  const remotes = remotesOf(name, overlays);
  const isLost = (remote: string): boolean =>
    leaving.includes(remote) || (leaving.length === 0 ? names.includes(remote) : leaving.includes(name));
  // Those that the files don't have any more may have objects: an earlier run may have been interrupted.
  const removed = [...new Set([...remotes, ...names, ...leaving])].filter((each) => each !== name && isLost(each));
  return {
    context,
    name,
    folder: join(output, name),
    before,
    after: filesWithout(before, removed),
    removed,
    remaining: remotes.filter((remote) => !isLost(remote)),
    report: (sentence) => print(`${printable(`${context.name}: ${sentence}`)}\n`),
  };
}

const remotesOf = (name: string, { known }: Overlays): readonly string[] =>
  (known.get(name) ?? []).map((remote) => remote.name);

/** Clusters that would go on to read one that leaves, each as a sentence. */
const readersLeft = (clusters: readonly Part[], { output, overlays, names, leaving }: Asked): readonly string[] =>
  clusters.flatMap(({ name, removed }) =>
    (leaving.includes(name) ? removed : [])
      .filter((other) => !names.includes(other) && !leaving.includes(other))
      .filter((other) => remotesOf(other, overlays).includes(name))
      .map((other) => `${output}/${other} has the remote ${name}, which leaves: add the --context of ${other}`),
  );

/** Clusters that are linked by the files of another folder, each as a sentence. */
async function withoutOverlay(clusters: readonly Part[], run: Run): Promise<readonly string[]> {
  const found = await Promise.all(
    clusters.map(async (cluster) =>
      !isOverlay(cluster.before) && (await isLinked(cluster, run))
        ? [
            `${cluster.context.name}: it is linked, but ${cluster.folder} has no overlay: ` +
              'set -o to the folder of semaphore link, or --cluster-name',
          ]
        : [],
    ),
  );
  return found.flat();
}

/** Changes the clusters, and then deletes the files of those without remotes. */
async function carryOut(clusters: readonly Part[], choices: { readonly coredns: boolean }, run: Run): Promise<void> {
  const left = clusters.filter(({ before }) => isOverlay(before));
  const prepared = await Promise.all(
    left.map(async ({ before, ...cluster }) => ({
      ...cluster,
      api: new LinkApi(cluster.context, run),
      mirrorNamespace: mirrorNamespaceIn(before),
      helm: choicesIn(before).helm === true,
      objects: cluster.remaining.length === 0 ? [] : await render(cluster.folder, run),
    })),
  );
  await leave(prepared, choices, run);
  for (const { folder, remaining, ...change } of left) if (remaining.length === 0) await writeFolder(folder, change);
}

/** Lines of a diff. Of copies of manifests, that they go says enough. */
function shownLines(folder: string, { before, after }: Change, paint: Terminal['paint']): readonly string[] {
  const own = [...after].filter(([name]) => !name.startsWith(`${COPIES}/`));
  const lines = diffLines(folder, { before, after: new Map(own) }, paint);
  const goes = [...after].some(([name, text]) => text === undefined && name.startsWith(`${COPIES}/`));
  return goes ? [...lines, printable(`${join(folder, COPIES)} (removed)`)] : lines;
}

async function uidOf(context: Context, run: Run): Promise<string | undefined> {
  return valueOf(await readObject(context, namespaceKind, { name: 'kube-system' }, run))?.metadata.uid;
}

const serviceMirror = z.object({ global: z.optional(z.object({ mirrorNamespace: z.optional(z.string()) })) });

const mirrorNamespaceIn = (files: Files): string =>
  serviceMirror.parse(JSON.parse(files.get('service-mirror.json') ?? '{}')).global?.mirrorNamespace ?? 'sys-semaphore';
