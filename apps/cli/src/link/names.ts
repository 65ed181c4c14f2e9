import { join } from 'node:path';
import { UsageError } from '../usage-error.ts';
import { CHOICES_FILE, choicesIn, uidIn } from './choices.ts';
import { knownRemotes } from './files/config-files.ts';
import { type Files, foldersIn, readFolder } from './files/folder.ts';
import type { KnownRemote } from './files/kustomize.ts';

/** What is known of the clusters of a folder, by name: of those that it has, and those that are asked for. */
export type Overlays = {
  readonly existing: ReadonlyMap<string, Files>;
  readonly known: ReadonlyMap<string, readonly KnownRemote[]>;
  /** Of those that say which cluster they are of. */
  readonly uids: ReadonlyMap<string, string>;
};

/** A cluster whose name is looked for. */
type Nameless = {
  readonly context: string;
  /** Of its namespace kube-system; undefined: not known. */
  readonly uid: string | undefined;
  /** By a flag. */
  readonly given: string | undefined;
};

/** Its name, and where that is from; or why it can't have one. */
type Named =
  | { readonly ok: true; readonly value: string; readonly source: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The name of a cluster is that of its folder, so that a further run finds it without the flag that named it.
 *
 * @param output the folder with those of `uids`
 */
export function nameOf(
  { context, uid, given }: Nameless,
  { output, uids }: Pick<Overlays, 'uids'> & { readonly output: string },
): Named {
  const own = [...uids].flatMap(([name, of]) => (of === uid ? [name] : []));
  const problem = (sentence: string): Named => ({ ok: false, problem: `${context}: ${sentence}` });
  if (own.length > 0) {
    const value = given ?? (own.length === 1 ? own[0]! : context);
    if (own.includes(value)) return { ok: true, value, source: given === undefined ? CHOICES_FILE : '--cluster-name' };
    if (given === undefined)
      return problem(
        `${own.join(' and ')} in ${output} are of this cluster: set --cluster-name ${context}=NAME to one`,
      );
    return problem(
      `${join(output, own[0]!)} is of this cluster: leave out --cluster-name ${context}=${value}, or unlink ${own[0]!} first`,
    );
  }
  if (given !== undefined) return { ok: true, value: given, source: '--cluster-name' };
  if (uid === undefined || !uids.has(context)) return { ok: true, value: context, source: 'the context' };
  return problem(
    `${join(output, context)} is of another cluster, by the uid of its namespace kube-system: ` +
      `if this one takes its place, set --cluster-name ${context}=${context}; else use another name or another -o`,
  );
}

/** Reads the folders in `output`. @param names of clusters that may have no folder @throws {UsageError} */
export async function readOverlays(output: string, names: readonly string[] = []): Promise<Overlays> {
  const overlays = { existing: new Map<string, Files>(), known: new Map(), uids: new Map<string, string>() };
  for (const name of new Set([...names, ...(await foldersIn(output))])) {
    const folder = join(output, name);
    const files = await readFolder(folder);
    overlays.existing.set(name, files);
    try {
      overlays.known.set(name, knownRemotes(files));
      choicesIn(files);
      const uid = uidIn(files);
      if (uid !== undefined) overlays.uids.set(name, uid);
    } catch (error) {
      throw new UsageError(`${folder}/${(error as Error).message}, or set -o to another folder`);
    }
  }
  return overlays;
}
