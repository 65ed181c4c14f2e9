import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deployAccount, deployPolicies, type RealCluster } from '@kube-semaphore/testkit';
import type { App } from '../programs.ts';
import { type ClusterName, clusterNames, MIRRORS, otherName, podRange } from './names.ts';

/** An app in a cluster. policy and service-mirror run in c1, where the calls begin. */
export type Place = `${App} ${ClusterName}`;

/** The device of a node has the number of the remote in its port. */
const devicePort = { c1: 51_821, c2: 51_822 } as const;

/** The files of deploy/ with the rights of these apps, by the cluster that gives them. */
export const rights: Readonly<Record<ClusterName, readonly string[]>> = {
  c1: [
    'policy/base/rbac.yaml',
    'policy/base/own-objects-policy.yaml',
    'policy/components/network-policies/rbac.yaml',
    'service-mirror/base/rbac.yaml',
    'service-mirror/base/own-objects-policy.yaml',
    'service-mirror/components/global/rbac.yaml',
    'service-mirror/components/mcs/rbac.yaml',
    'wireguard/base/rbac.yaml',
    'wireguard/remote/rbac.yaml',
  ],
  c2: [
    'policy/remote/rbac.yaml',
    'policy/components/remote-namespaces/rbac.yaml',
    'service-mirror/remote/rbac.yaml',
    'service-mirror/components/remote-mcs/rbac.yaml',
    'wireguard/base/rbac.yaml',
    'wireguard/remote/rbac.yaml',
  ],
};

/** The arguments of the apps, whose accounts have the rights of deploy/. */
export async function commandLines(
  clusters: Readonly<Record<ClusterName, RealCluster>>,
): Promise<ReadonlyMap<Place, readonly string[]>> {
  const { c1, c2 } = clusters;
  const write = async (name: string, config: object): Promise<string> => {
    const path = join(c1.dir, `${name}.json`);
    await writeFile(path, JSON.stringify(config));
    return path;
  };
  const account = async (cluster: RealCluster, base: string, ...components: readonly string[]) => {
    const [app = ''] = base.split('/');
    const folders = components.map((component) => `${app}/components/${component}`);
    return { kubeConfigPath: (await deployAccount(cluster, base, ...folders)).kubeconfig };
  };
  const anyPort = '-listen-address=127.0.0.1:0';
  const lines = new Map<Place, readonly string[]>();

  const policy = await write('policy', {
    local: await account(c1, 'policy/base', 'network-policies'),
    remotes: [
      { name: 'c2', allowedPodCIDRs: [podRange.c2], ...(await account(c2, 'policy/remote', 'remote-namespaces')) },
    ],
  });
  await deployPolicies(c1, 'policy/base');
  const policyLease = ['-leader-elect', '-lease-name=semaphore-policy', '-lease-namespace=semaphore-policy'];
  lines.set('policy c1', [`-config=${policy}`, anyPort, '-network-policies', ...policyLease]);

  const mirror = await write('service-mirror', {
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    mcs: {},
    localCluster: { name: 'c1', zones: ['z1'], ...(await account(c1, 'service-mirror/base', 'global', 'mcs')) },
    remoteClusters: [
      { name: 'c2', servicePrefix: 'c2', ...(await account(c2, 'service-mirror/remote', 'remote-mcs')) },
    ],
  });
  await deployPolicies(c1, 'service-mirror/base');
  lines.set('service-mirror c1', [`-config=${mirror}`, anyPort, '-leader-elect', `-lease-namespace=${MIRRORS}`]);

  for (const name of clusterNames) {
    const remote = otherName[name];
    const file = await write(`wireguard-${name}`, {
      local: { name, ...(await account(clusters[name], 'wireguard/base')) },
      remotes: [
        {
          name: remote,
          podSubnet: podRange[remote],
          wgListenPort: devicePort[remote],
          wgDeviceMTU: 1380,
          ...(await account(clusters[remote], 'wireguard/remote')),
        },
      ],
    });
    const keys = join(clusters[name].dir, 'keys');
    lines.set(`wireguard ${name}`, [
      `-clusters-config=${file}`,
      `-node-name=${name}`,
      `-wg-key-path=${keys}`,
      '-listen-address=127.0.0.1:7773',
    ]);
  }
  return lines;
}
