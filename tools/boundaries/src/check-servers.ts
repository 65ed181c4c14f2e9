import type { Project, SourceFile } from './project.ts';

/** The first words of a test file in a folder of this name. */
const reasons: Readonly<Record<string, string>> = { real: '// Real: ', both: '// Both: ' };

/**
 * The faults of a project's test files that need a real API server, or other programs of `npm run binaries`. The folder of such
 * a file is `real`, or `both` if it runs on embedded servers, too, and its first line says why: others take less time.
 *
 * @returns one line per fault, in the order of the files
 */
export function checkServers({ folder }: Pick<Project, 'folder'>, files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const kind = /^test\/(?:.*\/)?(real|both)\/.*\.test\.ts$/.exec(path)?.[1];
    const begin = kind && reasons[kind];
    if (begin === undefined || text.startsWith(begin)) return [];
    return [`${folder}/${path}: the first line must say what it needs of a real server: "${begin}…"`];
  });
}
