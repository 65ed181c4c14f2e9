import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { namespaceKind } from '@kube-semaphore/kube-objects';
import { type Context, type ContextChoice, contextsOf, nameContexts } from '../clusters/contexts.ts';
import { readObject, type Run, valueOf } from '../clusters/objects.ts';
import { answersOf } from '../link/answers.ts';
import { LinkApi } from '../link/api.ts';
import { render } from '../link/apply.ts';
import { type Change, COPIES, type Files, isOverlay, writeFolder } from '../link/folder.ts';
import { nameOf, readOverlays } from '../link/names.ts';
import { diffLines } from '../link/page.ts';
import { complainOf, type Surroundings, type Terminal } from '../output/terminal.ts';
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
export async function runUnlink(options: UnlinkOptions, surroundings: Surroundings): Promise<number> {
  const { terminal, signal } = surroundings;
  const { output, leaving = [], apply = false, coredns } = options;
  const run = { signal };
  const contexts = await contextsOf(options);
  if (contexts.length < 2 && leaving.length === 0)
    throw new UsageError('an unlink needs two clusters: repeat --context, or name one that leaves with --leaving');
  if (!existsSync(output)) throw new UsageError(`there is no folder ${output}: set -o to the folder of semaphore link`);
  const answers = answersOf(
    { clusterName: options.clusterName ?? [] },
    contexts.map(({ name }) => name),
  );
  nameContexts(contexts, terminal);
  // Also whether each is reached, before anything changes.
  const uids = await terminal.whileWaiting(
    `reading ${contexts.map(({ name }) => name).join(', ')}`,
    Promise.all(contexts.map((context) => uidOf(context, run))),
  );
  const overlays = await readOverlays(output);
  const found = contexts.map((context, i) =>
    nameOf({ context: context.name, uid: uids[i], given: answers[i]!.name }, { output, uids: overlays.uids }),
  );
  const named = found.flatMap((each, i) => (each.ok ? [{ context: contexts[i]!, name: each.value }] : []));
  const names = named.map(({ name }) => name);
  const knownOf = (name: string) => overlays.known.get(name) ?? [];
  const clusters = named.map(({ context, name }) => {
    const before: Files = overlays.existing.get(name) ?? new Map();
    const remotes = knownOf(name).map((remote) => remote.name);
    const isLost = (remote: string): boolean =>
      leaving.includes(remote) || (leaving.length === 0 ? names.includes(remote) : leaving.includes(name));
    // Those that the files don't have any more may have objects: an earlier run may have been interrupted.
    const removed = [...new Set([...remotes, ...names, ...leaving])].filter(
      (remote) => remote !== name && isLost(remote),
    );
    const remaining = remotes.filter((remote) => !isLost(remote));
    const report = (sentence: string): void => terminal.print(`${printable(`${context.name}: ${sentence}`)}\n`);
    return {
      context,
      name,
      folder: join(output, name),
      before,
      after: filesWithout(before, removed),
      removed,
      remaining,
      report,
    };
  });
  const problems = found.flatMap((each) => (each.ok ? [] : [each.problem]));
  const readers = clusters.flatMap(({ name, removed }) =>
    (leaving.includes(name) ? removed : [])
      .filter((other) => !names.includes(other) && !leaving.includes(other))
      .filter((other) => knownOf(other).some((remote) => remote.name === name))
      .map((other) => `${output}/${other} has the remote ${name}, which leaves: add the --context of ${other}`),
  );
  const foreign = await Promise.all(
    clusters.map(async (cluster) =>
      !isOverlay(cluster.before) && (await isLinked(cluster, run))
        ? [
            `${cluster.context.name}: it is linked, but ${cluster.folder} has no overlay: ` +
              'set -o to the folder of semaphore link, or --cluster-name',
          ]
        : [],
    ),
  );
  problems.push(...readers, ...foreign.flat());
  if (problems.length > 0) {
    for (const problem of [...problems, 'nothing was changed']) complainOf(surroundings, problem);
    return 1;
  }
  for (const { folder, remaining, ...change } of clusters) {
    const lines = shownLines(folder, change, terminal.paint);
    terminal.print(lines.length === 0 ? `${folder}: nothing changes\n` : `${lines.join('\n')}\n`);
    // The files of a cluster without remotes go last.
    if (remaining.length > 0) await writeFolder(folder, change);
  }
  if (!apply) return 0;
  const left = clusters.filter(({ before }) => isOverlay(before));
  const prepared = await Promise.all(
    left.map(async ({ before, ...cluster }) => ({
      ...cluster,
      api: new LinkApi(cluster.context, run),
      mirrorNamespace: mirrorNamespaceIn(before),
      objects: cluster.remaining.length === 0 ? [] : await render(cluster.folder, run),
    })),
  );
  await leave(prepared, { coredns }, run);
  for (const { folder, remaining, ...change } of left) if (remaining.length === 0) await writeFolder(folder, change);
  return 0;
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
