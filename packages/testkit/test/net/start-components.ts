import { startNetwork } from '@kube-semaphore/testnet';
import { node as nodeObject, startCoreDns, startKubeProxy, startRealCluster } from '../../src/index.ts';

/** A cluster with one Node, where CoreDNS and kube-proxy run. */
export async function startComponents() {
  const [cluster, network] = await Promise.all([startRealCluster({ name: 'c1' }), startNetwork(['a'])]);
  const node = network.node('a');
  await node.forward(Number(new URL(cluster.url).port));
  await cluster.admin.create('/api/v1/nodes', nodeObject({ name: 'a', internalIPs: [node.ipv4, node.ipv6] }));
  const [coreDns, kubeProxy] = await Promise.all([
    startCoreDns({ cluster, node, corefile: '.:53 {\n  kubernetes cluster.local\n}\n' }),
    startKubeProxy({ cluster, node, clusterCidr: '10.4.0.0/16,fd04::/48' }),
  ]);
  const stop = async () => void (await Promise.all([network.stop(), cluster.stop()]));
  return { coreDns, kubeProxy, stop };
}
