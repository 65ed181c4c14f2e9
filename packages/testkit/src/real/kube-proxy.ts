import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeKubeconfig } from '../kubeconfig.ts';
import type { NetworkNode } from '../net/node.ts';
import { findBinaries } from './binaries.ts';
import { inPlace, type NodeComponent } from './node-component.ts';
import type { RealCluster } from './real-cluster.ts';
import { startComponent } from './start-component.ts';
import { Supervision } from './supervision.ts';

export type KubeProxyOptions = {
  /** Whose Services it serves. It has a Node of the node's name; the node has its port by `forward`. */
  readonly cluster: RealCluster;
  readonly node: NetworkNode;
  /** The range of the cluster's pods: what comes from elsewhere is masqueraded. */
  readonly clusterCidr: string;
};

/** Every API server has a role for this user. */
const USER = 'system:kube-proxy';

/**
 * Starts kube-proxy in nftables mode, and resolves when it has written its first rules.
 *
 * @throws {Error} if it isn't built
 * @throws {ComponentError} with the end of its log if it doesn't run
 */
export async function startKubeProxy({ cluster, node, clusterCidr }: KubeProxyOptions): Promise<NodeComponent> {
  const binaries = findBinaries(['kube-proxy']);
  if (!binaries.ok) throw new Error(binaries.reason);
  const supervision = await Supervision.start();
  try {
    const kubeconfig = await writeKubeconfig(join(supervision.dir, 'kube-proxy.kubeconfig'), {
      name: cluster.name,
      url: cluster.url,
      caPem: await readFile(cluster.caFile, 'utf8'),
      credentials: { certificate: cluster.issueClientCertificate(USER) },
    });
    const flags = {
      kubeconfig,
      'proxy-mode': 'nftables',
      'hostname-override': node.name,
      'cluster-cidr': clusterCidr,
      // The size of this table isn't a namespace's to change.
      'conntrack-max-per-core': '0',
    };
    const component = inPlace(node, {
      name: 'kube-proxy',
      file: binaries.paths['kube-proxy'],
      args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
      log: join(supervision.dir, 'kube-proxy.log'),
      // It runs nft.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    await startComponent(supervision, component, () => hasRules(node));
  } catch (error) {
    await supervision.stop();
    throw error;
  }
  return { dir: supervision.dir, stop: () => supervision.stop() };
}

/** The first rules come with the table that they are in. */
async function hasRules(node: NetworkNode): Promise<boolean> {
  await node.run('nft', ['list', 'table', 'ip', 'kube-proxy']);
  return true;
}
