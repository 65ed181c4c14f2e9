import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Programs `wg` and `ip` of a node without any link, for tests of what needs no tunnel: they run without root, and where
 * neither is installed. They can tell what there is, and change nothing.
 *
 * @returns a PATH
 */
export async function bareNode(dir: string): Promise<string> {
  const folder = join(dir, 'bare-node');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'wg'), '#!/bin/sh\n[ "$1 $2" = "show all" ] || { echo "Unable to access interface: No such device" >&2; exit 1; }\n', { mode: 0o755 });
  await writeFile(join(folder, 'ip'), '#!/bin/sh\ncase "$*" in *show*) echo "[]" ;; *) exit 1 ;; esac\n', { mode: 0o755 });
  return folder;
}
