import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { findBinaries } from './real/binaries.ts';

const run = promisify(execFile);

/** The folder of a kubectl: of the one that was built for the real cluster, or of any other. Undefined: there is none. */
export const kubectlFolder = findKubectl();

/** Whether what takes kubectl is left out here: somebody's machine may be without one. CI isn't, and fails there. */
export const goesWithoutKubectl = kubectlFolder === undefined && process.env['CI'] === undefined;

function findKubectl(): string | undefined {
  const built = findBinaries(['kubectl']);
  if (built.ok) return dirname(built.paths.kubectl);
  return (process.env['PATH'] ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'kubectl')));
}

/**
 * Runs commands for bash, as a cluster's administrator; the first that fails ends them.
 *
 * @throws {Error} with stderr, if they end with anything but 0
 */
export async function bash(commands: string, cluster: TestCluster): Promise<{ stdout: string; stderr: string }> {
  const PATH = [kubectlFolder, process.env['PATH']].join(delimiter);
  const env = { PATH, HOME: cluster.dir, KUBECONFIG: cluster.adminKubeconfig };
  return run('bash', ['-euo', 'pipefail', '-c', commands], { env });
}
