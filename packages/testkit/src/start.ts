import {
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
  type TestCluster,
} from '@kube-semaphore/embedded-apiserver';
import { startRealCluster } from './real/real-cluster.ts';

/** The servers that a suite can run on. */
export type ClusterKind = TestCluster['kind'];

/** What suites run on: the variable KUBE_SEMAPHORE_CLUSTERS, which vitest's projects set. Default: embedded. */
export const clusterKind = (): ClusterKind => (process.env['KUBE_SEMAPHORE_CLUSTERS'] === 'real' ? 'real' : 'embedded');

/** Starts a cluster of the kind that the suite runs on, so that a suite is written once. */
export function startCluster({ name }: Pick<EmbeddedClusterOptions, 'name'>): Promise<TestCluster> {
  return clusterKind() === 'real' ? startRealCluster({ name }) : startEmbeddedCluster({ name });
}
