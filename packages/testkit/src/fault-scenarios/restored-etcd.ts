import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { RealCluster } from '../real/real-cluster.ts';

const isReal = (cluster: TestCluster): cluster is RealCluster => cluster.kind === 'real';

/** A cluster with an etcd. @throws {Error} for an embedded one */
export function realCluster(cluster: TestCluster): RealCluster {
  if (!isReal(cluster)) throw new Error('this needs an etcd');
  return cluster;
}
