import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { builtBinary } from './binaries.ts';
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
  /** What it writes its rules with. Default: nftables. */
  readonly mode?: 'nftables' | 'iptables';
};

/** Every API server has a role for this user. */
const USER = 'system:kube-proxy';

/** What shows that the first rules of a mode are there. */
const FIRST_RULES = {
  nftables: ['nft', ['list', 'table', 'ip', 'kube-proxy']],
  iptables: ['iptables', ['--table', 'nat', '--list', 'KUBE-SERVICES']],
} as const;

/**
 * Starts kube-proxy, and resolves when it has written its first rules.
 *
 * @throws {Error} if it isn't built
 * @throws {ComponentError} with the end of its log if it doesn't run
 */
export async function startKubeProxy({
  cluster,
  node,
  clusterCidr,
  mode = 'nftables',
}: KubeProxyOptions): Promise<NodeComponent> {
  const file = builtBinary('kube-proxy');
  const supervision = await Supervision.start();
  try {
    const kubeconfig = await writeKubeconfig(join(supervision.dir, 'kube-proxy.kubeconfig'), {
      name: cluster.name,
      url: cluster.url,
      caPem: await readFile(cluster.caFile, 'utf8'),
      credentials: { certificate: await cluster.issueClientCertificate(USER) },
    });
    const flags = {
      kubeconfig,
      'proxy-mode': mode,
      'hostname-override': node.name,
      'cluster-cidr': clusterCidr,
      // The size of this table isn't a namespace's to change.
      'conntrack-max-per-core': '0',
    };
    const component = inPlace(node, {
      name: 'kube-proxy',
      file,
      args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
      log: join(supervision.dir, 'kube-proxy.log'),
      // It runs nft, or iptables-restore.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    await startComponent(supervision, component, () => hasRules(node, mode));
  } catch (error) {
    await supervision.stop();
    throw error;
  }
  return { dir: supervision.dir, stop: () => supervision.stop() };
}

async function hasRules(node: NetworkNode, mode: keyof typeof FIRST_RULES): Promise<boolean> {
  const [command, args] = FIRST_RULES[mode];
  await node.run(command, [...args]);
  return true;
}
