import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterValues, type Texts } from '../measure/contender.ts';
import { LOCAL, POD_SUBNET } from './remote-nodes.ts';
import { METRICS_PORT, Station } from './station.ts';

/** Ours: the config file, and the flags of an agent. */
export const wireGuardFlags: Texts = async (targets) => {
  const { local, remote, cluster } = clusterValues(targets);
  const config = join(targets.dir, 'clusters.json');
  const remotes = [
    { name: cluster, kubeConfigPath: remote, podSubnet: POD_SUBNET, wgListenPort: 51_822, wgDeviceMTU: 1380 },
  ];
  await writeFile(config, JSON.stringify({ local: { name: LOCAL, kubeConfigPath: local }, remotes }));
  return {
    'clusters-config': config,
    'node-name': Station.node,
    'wg-key-path': join(targets.dir, 'keys'),
    // The same on all machines, also if the kernel has WireGuard.
    userspace: 'always',
    'listen-address': `127.0.0.1:${METRICS_PORT}`,
  };
};
