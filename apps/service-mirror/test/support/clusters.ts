import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { clusterKind, startRealCluster } from '@kube-semaphore/testkit';

/** Requirements of a test for its local cluster. */
export type LocalOptions = {
  /** Families that Services may have, the cluster's primary one first. Default: both. */
  readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[];
  /**
   * On a real cluster, run the garbage collector and these besides. The embedded one has a garbage collector, and nothing
   * else that would do anything by itself.
   */
  readonly controllers?: readonly string[];
  /** Admission plugins that a real cluster runs besides its own; the embedded one has none. */
  readonly admissionPlugins?: readonly string[];
};

const RANGES = { IPv4: '10.96.0.0/16', IPv6: 'fd00:10:96::/112' } as const;

/** A cluster of the kind that the suite runs on: embedded or real. */
export function startLocal({
  ipFamilies = ['IPv4', 'IPv6'],
  controllers,
  admissionPlugins = [],
}: LocalOptions): Promise<TestCluster> {
  if (clusterKind() === 'embedded') return startEmbeddedCluster({ name: 'c1', ipFamilies });
  const apiserverFlags = {
    'service-cluster-ip-range': ipFamilies.map((family) => RANGES[family]).join(','),
    ...(admissionPlugins.length > 0 && { 'enable-admission-plugins': admissionPlugins.join(',') }),
  };
  return startRealCluster({ name: 'c1', apiserverFlags, ...(controllers && { controllerManager: controllers }) });
}
