import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import { createGlobalAccounts } from '../accounts.ts';
import { it as itOnClusters, type StartOptions } from '../it.ts';
import { MIRRORS } from '../mirror-process.ts';
import { RemoteServices } from '../remote-services.ts';

/** The zone of the local cluster's nodes. */
export const ZONE = 'z1';

/** Makes a Service global, and not a mirror. */
export const globalLabels = { global: 'true', mirror: 'false' };

/** Makes its clients prefer endpoints of their own cluster. */
export const localFirst = { 'local-first': 'true' };

type Lab = { readonly clusters: Record<'local' | 'remote', RealCluster>; readonly network: Network };

/** Services without a selector: Kubernetes' controller would delete our slices of others. */
function withoutSelector(cluster: TestCluster, onCleanup: (clean: () => Promise<void>) => void): RemoteServices {
  const sources = new RemoteServices(cluster, { selector: null });
  onCleanup(() => sources.clear());
  return sources;
}

/** A test with two real clusters, whose own controllers make EndpointSlices, and with a network, which has no nodes yet. */
export const it = itOnClusters
  .extend('lab', { scope: 'file' }, async ({ localOptions: { controllers = [] } }, { onCleanup }): Promise<Lab> => {
    const [local, remote, network] = await Promise.all([
      startRealCluster({ name: 'c1', controllerManager: controllers }),
      startRealCluster({ name: 'c2', controllerManager: true }),
      startNetwork(),
    ]);
    onCleanup(async () => {
      await network.stop();
      await Promise.all([local.stop(), remote.stop()]);
    });
    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: MIRRORS },
    });
    return { clusters: { local, remote }, network };
  })
  .extend('network', { scope: 'file' }, ({ lab }) => lab.network)
  .extend('realClusters', { scope: 'file' }, ({ lab }) => lab.clusters)
  .extend('clusters', { scope: 'file' }, ({ lab }) => lab.clusters)
  .extend('accounts', { scope: 'file' }, ({ clusters }) => createGlobalAccounts(clusters))
  .extend('sources', ({ remote }, { onCleanup }) => withoutSelector(remote, onCleanup))
  .extend('localSources', ({ local }, { onCleanup }) => withoutSelector(local, onCleanup))
  /** `ofRemote` is what the file says of the remote besides. */
  .extend(
    'startGlobal',
    ({ local, accounts, startWith, localSources: _goAfterIt }) =>
      async ({ ofRemote = {}, ...options }: StartOptions & { readonly ofRemote?: object } = {}) => {
        const remote = { name: 'c2', kubeConfigPath: accounts.remote.kubeconfig, servicePrefix: 'c2', ...ofRemote };
        const file = {
          global: {
            globalSvcLabelSelector: 'global=true',
            globalSvcRoutingStrategyLabel: 'local-first=true',
            globalSvcHints: 'labelled',
            mirrorSvcLabelSelector: 'mirror=true',
            mirrorNamespace: MIRRORS,
          },
          localCluster: { name: 'c1', zones: [ZONE], kubeConfigPath: accounts.local.kubeconfig },
          remoteClusters: [remote],
        };
        const path = join(local.dir, 'service-mirror.json');
        await writeFile(path, JSON.stringify(file));
        return startWith([`-config=${path}`, '-listen-address=127.0.0.1:0'], options);
      },
  );
