import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kubectlFolder, type RealCluster } from '@kube-semaphore/testkit';

/** What a command needs of a cluster. */
export type Reached = { readonly cluster: Pick<RealCluster, 'name' | 'adminKubeconfig'> };

const launcher = fileURLToPath(new URL('../../apps/cli/bin/semaphore.js', import.meta.url));

/**
 * Runs a command of `semaphore` on clusters.
 *
 * @returns what it prints
 * @throws {Error} with what it prints, unless it ends with 0; its cause has `code` and `stdout`
 */
export async function semaphore(
  sides: readonly Reached[],
  command: string,
  ...flags: readonly string[]
): Promise<string> {
  const clusters = sides.map(({ cluster }) => cluster);
  const env = {
    PATH: [kubectlFolder, process.env['PATH']].join(delimiter),
    NODE_OPTIONS: process.env['NODE_OPTIONS'],
    HOME: '/dev/null',
    KUBECONFIG: clusters.map(({ adminKubeconfig }) => adminKubeconfig).join(delimiter),
  };
  // The ends of a path name their contexts, and an export has its own.
  const contexts = ['explain', 'export'].includes(command) ? [] : clusters.map(({ name }) => `--context=${name}`);
  try {
    return (await promisify(execFile)(process.execPath, [launcher, command, ...contexts, ...flags], { env })).stdout;
  } catch (cause) {
    const { message, stdout } = cause as Error & { readonly stdout: string };
    throw new Error(`${message}\n${stdout}`, { cause });
  }
}
