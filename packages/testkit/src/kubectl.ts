import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { findBinaries } from './real/binaries.ts';

const run = promisify(execFile);

/** The folder of kubectl: the one built for the real cluster, or any other; undefined if there isn't one. */
export const kubectlFolder = findKubectl();

/** Whether tests with kubectl are skipped: a developer's machine may lack it. CI fails without it. */
export const goesWithoutKubectl = kubectlFolder === undefined && process.env['CI'] === undefined;

function findKubectl(): string | undefined {
  const built = findBinaries(['kubectl']);
  if (built.ok) return dirname(built.paths.kubectl);
  return (process.env['PATH'] ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'kubectl')));
}

/**
 * Runs bash commands as a cluster's administrator, and stops at the first failure.
 *
 * @throws {Error} with stderr, unless the exit code is 0
 */
export async function bash(commands: string, cluster: TestCluster): Promise<{ stdout: string; stderr: string }> {
  const PATH = [kubectlFolder, process.env['PATH']].join(delimiter);
  const env = { PATH, HOME: cluster.dir, KUBECONFIG: cluster.adminKubeconfig };
  return run('bash', ['-euo', 'pipefail', '-c', commands], { env });
}
