import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { RealCluster } from '../real/real-cluster.ts';
import { type Lab, useUpVersions } from './lab.ts';
import type { Side } from './sides.ts';

/** Of which an API server that starts needs some: those that are known must lie in the future then. */
const VERSIONS = 200;

const isReal = (cluster: TestCluster): cluster is RealCluster => cluster.kind === 'real';

/** A cluster with an etcd. @throws {Error} for an embedded one */
export function realCluster(cluster: TestCluster): RealCluster {
  if (!isReal(cluster)) throw new Error('this needs an etcd');
  return cluster;
}

/** An etcd that was restored to an older snapshot is noticed, although a watch would be silent. On real clusters only. */
export async function restoreEtcd({ begin, clusters, proxies }: Lab, side: Side): Promise<void> {
  const cluster = realCluster(clusters[side]);
  const scenario = await begin();
  await scenario.change();
  await scenario.settled();
  const snapshot = await cluster.snapshotEtcd();
  await useUpVersions(cluster, VERSIONS);
  await scenario.change();
  await scenario.settled();
  // After several failures a program lists in any case: so that there is only one, it sees nothing of the restore.
  await proxies[side].set({ kind: 'stall' });
  await cluster.restoreEtcd(snapshot);
  await scenario.served();
  await proxies[side].clear();
  await scenario.survived();
}
