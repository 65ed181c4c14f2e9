import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterValues, type Targets, type Texts } from '../measure/contender.ts';
import { MIRRORS } from './mirrors.ts';
import { selector } from './source-objects.ts';

/** Ours: flags for one remote with this number of services, and that of the rollout. */
export const mirrorFlags =
  (services: number): Texts =>
  (targets) => {
    const { local, remote, cluster } = clusterValues(targets);
    return Promise.resolve({
      'kube-config': local,
      'target-kube-config': remote,
      'svc-prefix': cluster,
      'label-selector': selector,
      'mirror-ns': MIRRORS,
      'max-remote-services': String(services + 1),
    });
  };

/** The values in a peer's command: for flags, or for a config file, as in the last releases of the Go program. */
export const mirrorValues: Texts = async (targets) => {
  return { ...clusterValues(targets), selector, namespace: MIRRORS, config: await writeConfig(targets) };
};

async function writeConfig(targets: Targets): Promise<string> {
  const { local, remote, cluster } = clusterValues(targets);
  const config = join(targets.dir, 'service-mirror.json');
  const file = {
    global: {
      mirrorSvcLabelSelector: selector,
      // The Go program needs both; no Service has the labels.
      globalSvcLabelSelector: 'bench.example/global=true',
      globalSvcRoutingStrategyLabel: 'bench.example/routing=true',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: 'c1', kubeConfigPath: local },
    remoteClusters: [{ name: cluster, kubeConfigPath: remote, servicePrefix: cluster }],
  };
  await writeFile(config, JSON.stringify(file));
  return config;
}
