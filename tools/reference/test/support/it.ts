import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bash, type KubeObject, Kubelet, processRuntime, type RealCluster, runWorkload, startNetwork, startRealCluster } from '@kube-semaphore/testkit';
import { it as base } from 'vitest';
import { calicoCrds } from './crds.ts';
import { keepScheduled } from './scheduled.ts';

/** What the examples need of a cluster besides endpoints. */
const controllerManager = ['serviceaccount-token-controller', 'deployment-controller', 'replicaset-controller'];
const NODE = 'node';
const names = ['c1', 'c2'] as const;
type Name = (typeof names)[number];

const deployments = ['kube-system/deployments/semaphore-policy', 'sys-semaphore/deployments/semaphore-service-mirror'].map((path) => `/apis/apps/v1/namespaces/${path}`);

const launcherOf = (app: string) => ({ launcher: fileURLToPath(new URL(`../../../../apps/${app}/bin/semaphore-${app}.js`, import.meta.url)) });
const runtime = processRuntime({ 'semaphore-policy': launcherOf('policy'), 'semaphore-service-mirror': launcherOf('service-mirror') });

/** The Pods of the page's examples get addresses of these. */
const podPrefixes: Readonly<Record<Name, string>> = { c1: '10.2.0', c2: '10.4.0' };

/**
 * A test with what getting-started begins with: two clusters, and a copy of deploy/. `type` runs commands there, with the
 * contexts c1 and c2; `runApps` is what the kubelets do with the two Deployments that were applied.
 */
export const it = base
  .extend('crds', { scope: 'file' }, () => calicoCrds)
  .extend('clusters', { scope: 'file' }, async ({ crds }, { onCleanup }): Promise<Readonly<Record<Name, RealCluster>>> => {
    const [c1, c2] = await Promise.all([startRealCluster({ name: 'c1', controllerManager }), startRealCluster({ name: 'c2', controllerManager })]);
    onCleanup(async () => {
      await Promise.all([c1.stop(), c2.stop()]);
    });
    const prepare = async (cluster: RealCluster) => {
      for (const crd of crds) await cluster.defineResource(crd);
      await cluster.admin.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } });
    };
    await Promise.all([prepare(c1), prepare(c2)]);
    return { c1, c2 };
  })
  .extend('nodes', { scope: 'file' }, async ({ clusters }, { onCleanup }) => {
    const network = await startNetwork(names);
    const dir = await mkdtemp(join(tmpdir(), 'getting-started-'));
    const apiPorts = names.map((name) => Number(new URL(clusters[name].url).port));
    for (const name of names) for (const port of apiPorts) await network.node(name).forward(port);
    const kubelets = names.map((name, n) => {
      let count = 0;
      // Those of the apps, which nobody here asks for by them.
      const nextIps = () => [`10.${100 + n}.0.${(count += 1)}`];
      return [name, new Kubelet({ cluster: clusters[name], nodeName: NODE, node: network.node(name), runtime, nextIps, apiPorts, dir: join(dir, name) })] as const;
    });
    onCleanup(async () => {
      await Promise.all(kubelets.map(([, kubelet]) => kubelet.stop()));
      await network.stop();
      await rm(dir, { recursive: true });
    });
    return { kubelets, dir };
  })
  .extend('runApps', { scope: 'file' }, ({ nodes, clusters }) => async (): Promise<void> => {
    const applied = nodes.kubelets.flatMap(([name, kubelet]) => deployments.map((path) => ({ kubelet, deployment: clusters[name].admin.get(path) })));
    const pods = await Promise.all(applied.map(async ({ kubelet, deployment }) => runWorkload(withOneReplica(await deployment), [kubelet])));
    await Promise.all(pods.flat().map((pod) => pod.ready()));
  })
  .extend('type', { scope: 'file' }, async ({ nodes, clusters }, { onCleanup }) => {
    const folder = join(nodes.dir, 'work');
    await mkdir(folder);
    await cp('deploy', join(folder, 'deploy'), { recursive: true });
    const scheduling = new AbortController();
    const scheduled = names.map((name) => keepScheduled(clusters[name], { namespace: 'shop', node: NODE, prefix: podPrefixes[name], signal: scheduling.signal }));
    onCleanup(async () => {
      scheduling.abort();
      await Promise.all(scheduled);
    });
    const kubeconfig = names.map((name) => clusters[name].adminKubeconfig).join(':');
    return (commands: string) => bash(`export KUBECONFIG=${kubeconfig}\ncd ${folder}\n${commands}`, clusters.c1);
  });

/** That several replicas go well with each other is shown elsewhere. */
function withOneReplica(deployment: KubeObject): KubeObject {
  return { ...deployment, spec: { ...(deployment['spec'] as object), replicas: 1 } };
}
