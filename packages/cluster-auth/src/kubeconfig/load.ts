import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Environment } from '../dependencies.ts';
import { readText } from '../credentials/rotating-files.ts';
import { type MergedKubeconfig, mergeKubeconfigs } from './merge.ts';
import { parseKubeconfig } from './schema.ts';

/**
 * Reads what kubectl reads: the file of `--kubeconfig`; or the list in `KUBECONFIG`, of which a file may be missing; or
 * `~/.kube/config`, which may be missing, too.
 *
 * @param file undefined or empty: not given
 * @throws {ClusterAuthError} with the name of the file
 */
export async function loadKubeconfigs(file: string | undefined, env: Environment): Promise<MergedKubeconfig> {
  const list = env['KUBECONFIG']?.split(delimiter) ?? [];
  const known = env['KUBECONFIG'] ? [...new Set(list)] : [join(env['HOME'] || homedir(), '.kube/config')];
  const read = async (path: string) => ({ path, config: parseKubeconfig(await readText(path), path) });
  if (file) return mergeKubeconfigs([await read(file)]);
  const files = await Promise.all(
    known.filter((path) => path !== '').map(async (path) => read(path).catch((error: unknown) => unlessMissing(error))),
  );
  return mergeKubeconfigs(files.filter((each) => each !== undefined));
}

function unlessMissing(error: unknown): undefined {
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
