import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deployedRights, issueToken, type RealCluster } from '@kube-semaphore/testkit';
import type { App } from '../programs.ts';
import { type ClusterName, clusterNames, devicePort, MIRRORS, otherName, podRange } from './names.ts';

/** An app in a cluster. policy and service-mirror run in c1, where the calls begin. */
export type Place = `${App} ${ClusterName}`;

/** The arguments of the apps, which have tokens of the accounts that the charts made. */
export async function commandLines(
  clusters: Readonly<Record<ClusterName, RealCluster>>,
): Promise<ReadonlyMap<Place, readonly string[]>> {
  const { c1, c2 } = clusters;
  const write = async (name: string, config: object): Promise<string> => {
    const path = join(c1.dir, `${name}.json`);
    await writeFile(path, JSON.stringify(config));
    return path;
  };
  const account = async (cluster: RealCluster, folder: string, pod?: string) => {
    const token = { ...deployedRights(folder).account, ...(pod !== undefined && { pod }) };
    return { kubeConfigPath: (await issueToken(cluster, token)).kubeconfig };
  };
  const anyPort = '-listen-address=127.0.0.1:0';
  const lines = new Map<Place, readonly string[]>();

  const policy = await write('policy', {
    local: await account(c1, 'policy/base'),
    remotes: [{ name: 'c2', allowedPodCIDRs: [podRange.c2], ...(await account(c2, 'policy/remote')) }],
  });
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
    localCluster: { name: 'c1', zones: ['z1'], ...(await account(c1, 'service-mirror/base')) },
    remoteClusters: [{ name: 'c2', servicePrefix: 'c2', ...(await account(c2, 'service-mirror/remote')) }],
  });
  lines.set('service-mirror c1', [`-config=${mirror}`, anyPort, '-leader-elect', `-lease-namespace=${MIRRORS}`]);

  for (const name of clusterNames) {
    const remote = otherName[name];
    const file = await write(`wireguard-${name}`, {
      local: { name, ...(await account(clusters[name], 'wireguard/base', await agentOn(clusters[name]))) },
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

/** The Pod of an agent on the node of a cluster. Only by its token may the agent write to the Node. @returns its name */
async function agentOn({ name, admin }: RealCluster): Promise<string> {
  const { account } = deployedRights('wireguard/base');
  await admin.create(`/api/v1/namespaces/${account.namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent' },
    spec: { nodeName: name, serviceAccountName: account.name, containers: [{ name: 'agent', image: 'agent' }] },
  });
  return 'agent';
}
