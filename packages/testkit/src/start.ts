import {
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
  type TestCluster,
} from '@kube-semaphore/embedded-apiserver';
import { startRealCluster } from './real/real-cluster.ts';

/** The kinds of servers for a suite. */
export type ClusterKind = TestCluster['kind'];

/** The kind that this run uses: KUBE_SEMAPHORE_CLUSTERS, which vitest's projects set. Default: embedded. */
export const clusterKind = (): ClusterKind => (process.env['KUBE_SEMAPHORE_CLUSTERS'] === 'real' ? 'real' : 'embedded');

/** Starts a cluster of the run's kind, so that one suite covers both. */
export function startCluster({ name }: Pick<EmbeddedClusterOptions, 'name'>): Promise<TestCluster> {
  return clusterKind() === 'real' ? startRealCluster({ name }) : startEmbeddedCluster({ name });
}
