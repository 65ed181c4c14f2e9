import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { UsageError } from '../../usage-error.ts';

/** A file's text by its path in the folder of a cluster. */
export type Files = ReadonlyMap<string, string>;

/** Where the folder of a cluster has its copies of manifests. */
export const COPIES = 'deploy';

/** What `link` reads and writes: the folder may have more. */
const OURS = /\.(?:json|yaml)$/;

/** Our files in the folder of a cluster, with copies of manifests; none if it doesn't exist. @throws {UsageError} */
export async function readFolder(path: string): Promise<Files> {
  const entries = [...(await entriesOf(path)), ...(await entriesOf(join(path, COPIES), { recursive: true }))];
  const files = entries.filter((each) => each.isFile() && OURS.test(each.name));
  const paths = files.map((each) => join(each.parentPath, each.name));
  return new Map(
    await Promise.all(paths.map(async (each) => [relative(path, each), await readFile(each, 'utf8')] as const)),
  );
}

/** The names of the folders in one; none if it doesn't exist. @throws {UsageError} */
export const foldersIn = async (path: string): Promise<readonly string[]> =>
  (await entriesOf(path)).filter((each) => each.isDirectory()).map(({ name }) => name);

async function entriesOf(path: string, { recursive = false } = {}) {
  try {
    return await readdir(path, { withFileTypes: true, recursive });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw failure(path, 'read', error);
  }
}

/** Whether files are an overlay of ours. Without its list of remotes, it would look like one that has lost them all. */
export const isOverlay = (files: Files): boolean => files.has('service-mirror.json');

/** Writes files that differ, and removes those that go, with folders that are then empty. @throws {UsageError} */
export async function writeFolder(path: string, { before, after }: Change): Promise<void> {
  try {
    for (const [name, text] of after) {
      const file = join(path, name);
      if (text === before.get(name)) continue;
      if (text === undefined) {
        await rm(file);
        await removeEmpty(dirname(file), path);
      } else {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text);
      }
    }
  } catch (error) {
    throw failure(path, 'written', error);
  }
}

async function removeEmpty(folder: string, top: string): Promise<void> {
  if ((await readdir(folder)).length > 0) return;
  await rmdir(folder);
  if (folder !== top) await removeEmpty(dirname(folder), top);
}

const failure = (path: string, what: 'read' | 'written', error: unknown): UsageError =>
  new UsageError(`${path} can't be ${what}: set -o to another folder: ${(error as Error).message}`);

/** The texts of files; undefined: the file goes. */
export type FileChanges = ReadonlyMap<string, string | undefined>;

/** The files of a folder, before and after. A file that only `before` has stays. */
export type Change = { readonly before: Files; readonly after: FileChanges };

/** A line of a diff: of both texts, or of one. */
type DiffLine = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/** What changes in a folder: a heading and lines for each file that differs. Sorted by name. */
export function changedLines(folder: string, { before, after }: Change): readonly DiffLine[] {
  const names = [...after.keys()].filter((name) => after.get(name) !== before.get(name)).toSorted();
  return names.flatMap((name) => {
    const old = before.get(name);
    const path = `${folder}/${name}`;
    const now = after.get(name);
    const what = old === undefined ? ' (new)' : now === undefined ? ' (removed)' : '';
    const heading = { mark: ' ', text: `${path}${what}` } as const;
    return [heading, ...diffOf(old ?? '', now ?? '').filter(({ mark }) => mark !== ' ')];
  });
}

/** The shortest edit of lines. */
function diffOf(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  // common[i][j]: how many lines a from i and b from j have in common.
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || common[i + 1]![j]! >= common[i]![j + 1]!))
      lines.push({ mark: '-', text: a[i++]! });
    else lines.push({ mark: '+', text: b[j++]! });
  }
  return lines;
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
