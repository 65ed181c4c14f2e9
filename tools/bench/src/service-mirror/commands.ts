import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterValues, type Targets, type Texts } from '../measure/contender.ts';
import { MIRRORS } from './mirrors.ts';
import { selector } from './source-objects.ts';

/** Ours: the flags for one remote. */
export const mirrorFlags: Texts = (targets) => {
  const { local, remote, cluster } = clusterValues(targets);
  return Promise.resolve({
    'kube-config': local,
    'target-kube-config': remote,
    'svc-prefix': cluster,
    'label-selector': selector,
    'mirror-ns': MIRRORS,
  });
};

/** What stands in a peer's command, whether it is told by flags or, as the Go program's last releases, by a file. */
export const mirrorValues: Texts = async (targets) => {
  return { ...clusterValues(targets), selector, namespace: MIRRORS, config: await writeConfig(targets) };
};

async function writeConfig(targets: Targets): Promise<string> {
  const { local, remote, cluster } = clusterValues(targets);
  const config = join(targets.dir, 'service-mirror.json');
  const file = {
    global: { mirrorSvcLabelSelector: selector, mirrorNamespace: MIRRORS, serviceSync: true, endpointSliceSync: true },
    localCluster: { name: 'c1', kubeConfigPath: local },
    remoteClusters: [{ name: cluster, kubeConfigPath: remote, servicePrefix: cluster }],
  };
  await writeFile(config, JSON.stringify(file));
  return config;
}
