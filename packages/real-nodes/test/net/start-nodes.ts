import { type Network, startNetwork } from '@kube-semaphore/testnet';
import { NodeCluster } from '../../src/index.ts';
import { images } from '../busybox.ts';

export type StartedNodes = {
  readonly network: Network;
  readonly nodes: NodeCluster;
  readonly stop: () => Promise<void>;
};

/** Starts a cluster that notices a lost node after 20 s: a kubelet of a busy machine isn't lost. */
export async function startNodes(count = 2): Promise<StartedNodes> {
  const network = await startNetwork();
  let nodes: NodeCluster | undefined;
  const stop = async () => {
    await nodes?.stop();
    await network.stop();
  };
  try {
    nodes = await NodeCluster.start({
      name: 'c1',
      network,
      clusterCidr: '10.2.0.0/16',
      serviceCidr: '10.96.0.0/16',
      images: images(),
      times: { statusSeconds: 1, leaseSeconds: 4, syncSeconds: 1 },
      controllerManagerFlags: { 'node-monitor-period': '500ms', 'node-monitor-grace-period': '20s' },
    });
    await nodes.addNodes(count);
    return { network, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
