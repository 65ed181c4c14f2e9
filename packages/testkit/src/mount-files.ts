import { mkdtemp, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Publishes files like kubelet those of a Secret or a ConfigMap, and replaces earlier ones: makes a new folder, then swaps
 * the symlink `..data`, through which each name leads.
 */
export async function mountFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  const folder = await mkdtemp(join(root, '..generation-'));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o644 });
    await symlink(join('..data', name), join(root, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  const next = join(root, '..data_tmp');
  await symlink(basename(folder), next);
  await rename(next, join(root, '..data'));
}
