/** How a program of ours wants Node.js to be started. */
export type Launcher = { readonly env: Readonly<Record<string, string>>; readonly execArgv: readonly string[] };

const START = '#!/usr/bin/env -S ';

/**
 * Reads the first line of a program's file, `#!/usr/bin/env -S NAME=value node --flag`, so that it can be started as
 * that says but with this very Node.js: a machine may have an older one, or an `env` without `-S`.
 *
 * @throws {Error} if the line says anything else
 */
export function readLauncher(line: string): Launcher {
  const words = line.startsWith(START) ? line.slice(START.length).split(' ') : [];
  const node = words.indexOf('node');
  const settings = words.slice(0, node).map((word) => word.split('='));
  if (node < 0 || settings.some(({ length }) => length !== 2)) throw new Error(`not "${START}… node …": ${line}`);
  return { env: Object.fromEntries(settings), execArgv: words.slice(node + 1) };
}
