import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file's text by its name in the folder of a cluster. */
export type Files = ReadonlyMap<string, string>;

/** The files in the folder of a cluster; none if it doesn't exist. */
export async function readFolder(path: string): Promise<Files> {
  try {
    const names = (await readdir(path, { withFileTypes: true }))
      .filter((each) => each.isFile())
      .map(({ name }) => name);
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const)),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}

/** Writes files that differ, and removes those that go, with the folder if it is then empty. */
export async function writeFolder(path: string, { before, after }: Change): Promise<void> {
  await mkdir(path, { recursive: true });
  for (const [name, text] of after) {
    if (text === undefined) await rm(join(path, name));
    else if (before.get(name) !== text) await writeFile(join(path, name), text);
  }
  if ((await readdir(path)).length === 0) await rmdir(path);
}

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
