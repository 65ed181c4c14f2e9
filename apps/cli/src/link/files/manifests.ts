import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Files } from './folder.ts';

/** The folders of deploy/ that overlays are built on. */
const FOLDERS = ['policy', 'service-mirror', 'wireguard', 'dns'] as const;

/** The manifests of deploy/, by their paths there. `npm run bundle` replaces this module by one that has them. */
export async function manifests(): Promise<Files> {
  return new Map(await readManifests(fileURLToPath(new URL('../../../../../deploy', import.meta.url))));
}

/** The same, of the folder deploy/ of a checkout; sorted. */
export async function readManifests(deploy: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await Promise.all(
    FOLDERS.map((folder) => readdir(join(deploy, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = entries.flat().flatMap((each) => (each.isFile() ? [join(each.parentPath, each.name)] : []));
  return Promise.all(
    paths.toSorted().map(async (path) => [relative(deploy, path), await readFile(path, 'utf8')] as const),
  );
}
