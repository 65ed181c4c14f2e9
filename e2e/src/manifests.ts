import { bash, docBlocks, type RealCluster } from '@kube-semaphore/testkit';

/** The apps: the workload of each, as kubectl names it, and its namespace. */
export const workloads = {
  policy: { workload: 'deployment/semaphore-policy', namespace: 'kube-system' },
  'service-mirror': { workload: 'deployment/semaphore-service-mirror', namespace: 'sys-semaphore' },
  wireguard: { workload: 'daemonset/semaphore-wireguard', namespace: 'kube-system' },
} as const;

export type App = keyof typeof workloads;

/** Gives the apps of both clusters their tokens for the other one, and its CA, by the commands of deploy/README.md. */
export async function handOver(c1: RealCluster, c2: RealCluster): Promise<void> {
  const [commands = ''] = docBlocks('../deploy/README.md', 'Tokens');
  await bash(`export KUBECONFIG=${c1.adminKubeconfig}:${c2.adminKubeconfig}\n${commands}`, c1);
}
