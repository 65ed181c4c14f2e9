import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { type ContextChoice, contextsOf, nameContexts } from '../clusters/contexts.ts';
import { readGroups, valueOf } from '../clusters/objects.ts';
import { answersOf } from '../link/answers.ts';
import { LinkApi } from '../link/api.ts';
import { render } from '../link/apply.ts';
import { changeText, readFolders } from '../link/command.ts';
import { type Files, writeFolder } from '../link/folder.ts';
import { complainOf, type Surroundings } from '../output/terminal.ts';
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
  const answers = answersOf(
    { clusterName: options.clusterName ?? [] },
    contexts.map(({ name }) => name),
  );
  const named = contexts.map((context, i) => ({ context, name: answers[i]!.name ?? context.name }));
  const names = named.map(({ name }) => name);
  const { existing, known } = await readFolders(await allNames(output, names), output);
  const clusters = named.map(({ context, name }) => {
    const before = existing.get(name)!;
    const remotes = known.get(name)!.map((remote) => remote.name);
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
  const problems = clusters.flatMap(({ name, removed }) =>
    (leaving.includes(name) ? removed : [])
      .filter((other) => !names.includes(other) && !leaving.includes(other))
      .filter((other) => known.get(other)?.some((remote) => remote.name === name) === true)
      .map((other) => `${output}/${other} has the remote ${name}, which leaves: add the --context of ${other}`),
  );
  nameContexts(contexts, terminal);
  const checked = await terminal.whileWaiting(
    `reading ${contexts.map(({ name }) => name).join(', ')}`,
    Promise.all(
      clusters.map(async (cluster) => {
        // Also whether it is reached, before anything changes.
        valueOf(await readGroups(cluster.context, run));
        const isForeign = !isOverlay(cluster.before) && (await isLinked(cluster, run));
        return isForeign
          ? [
              `${cluster.context.name}: it is linked, but ${cluster.folder} has no overlay: ` +
                'set -o to the folder of semaphore link, or --cluster-name',
            ]
          : [];
      }),
    ),
  );
  problems.push(...checked.flat());
  if (problems.length > 0) {
    for (const problem of [...problems, 'nothing was changed']) complainOf(surroundings, problem);
    return 1;
  }
  for (const { folder, remaining, ...change } of clusters) {
    terminal.print(changeText(folder, change, terminal.paint));
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

/** Without its list of remotes, an overlay would look like one that has lost them all. */
const isOverlay = (files: Files): boolean => files.has('service-mirror.json');

/** The clusters of the folder, and those that are named. @throws {UsageError} without the folder */
async function allNames(output: string, names: readonly string[]) {
  try {
    const entries = await readdir(output, { withFileTypes: true });
    const folders = entries.filter((each) => each.isDirectory()).map(({ name }) => name);
    return [...new Set([...names, ...folders])].map((name) => ({ name }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(`there is no folder ${output}: set -o to the folder of semaphore link`);
  }
}

const serviceMirror = z.object({ global: z.optional(z.object({ mirrorNamespace: z.optional(z.string()) })) });

const mirrorNamespaceIn = (files: Files): string =>
  serviceMirror.parse(JSON.parse(files.get('service-mirror.json') ?? '{}')).global?.mirrorNamespace ?? 'sys-semaphore';
