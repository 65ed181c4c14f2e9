import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  bash,
  calicoApiCrds,
  imageRuntime,
  Kubelet,
  node as nodeObject,
  type RealCluster,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { startNetwork } from '@kube-semaphore/testnet';
import { it as base } from 'vitest';
import { LiveNode } from './live-node.ts';
import { addUserspace } from './userspace.ts';

/** The controllers that create Pods and fill in tokens. */
const controllerManager = [
  'serviceaccount-token-controller',
  'deployment-controller',
  'replicaset-controller',
  'daemonset-controller',
  'resourcequota-controller',
];
const names = ['c1', 'c2'] as const;
type Name = (typeof names)[number];

/** The pod ranges of the page. */
const podPrefixes: Readonly<Record<Name, string>> = { c1: '10.2.0', c2: '10.4.0' };

const otherThan = (name: Name): Name => (name === 'c1' ? 'c2' : 'c1');

/**
 * A test with the start of getting-started: two clusters with one node each, which has the images, and a copy of deploy/.
 * `type` runs commands there, with the contexts c1 and c2.
 */
export const it = base
  .extend('crds', { scope: 'file' }, () => calicoApiCrds())
  .extend(
    'clusters',
    { scope: 'file' },
    async ({ crds }, { onCleanup }): Promise<Readonly<Record<Name, RealCluster>>> => {
      const [c1, c2] = await Promise.all([
        startRealCluster({ name: 'c1', controllerManager }),
        startRealCluster({ name: 'c2', controllerManager }),
      ]);
      onCleanup(async () => {
        await Promise.all([c1.stop(), c2.stop()]);
      });
      for (const cluster of [c1, c2]) for (const crd of crds) await cluster.defineResource(crd);
      return { c1, c2 };
    },
  )
  .extend(
    'nodes',
    { scope: 'file' },
    async ({ clusters }, { onCleanup }): Promise<Readonly<Record<Name, LiveNode>>> => {
      const network = await startNetwork(names);
      const apiPorts = names.map((name) => Number(new URL(clusters[name].url).port));
      const live = async (name: Name, number: number) => {
        const [cluster, node, prefix] = [clusters[name], network.node(name), podPrefixes[name]];
        for (const port of apiPorts) await node.forward(port);
        const nodeName = `${name}-control-plane`;
        await cluster.admin.create(
          '/api/v1/nodes',
          nodeObject({
            name: nodeName,
            labels: { 'kubernetes.io/os': 'linux' },
            podCIDRs: [`${prefix}.0/24`],
            internalIPs: [node.ipv4],
          }),
        );
        let count = 0;
        // Addresses of the apps' Pods, which no test uses.
        const nextIps = () => [`10.${number}.0.${(count += 1)}`];
        const kubelet = new Kubelet({
          cluster,
          nodeName,
          node,
          runtime: imageRuntime,
          nextIps,
          apiPorts,
          dir: join(cluster.dir, nodeName),
        });
        return new LiveNode({ cluster, kubelet, prefix });
      };
      const nodes = { c1: await live('c1', 101), c2: await live('c2', 102) };
      for (const name of names) nodes[name].run();
      onCleanup(async () => {
        await Promise.all(names.map((name) => nodes[name].stop()));
        await network.stop();
      });
      return nodes;
    },
  )
  .extend('type', { scope: 'file' }, async ({ nodes, clusters }) => {
    const folder = join(clusters.c1.dir, 'work');
    await mkdir(folder);
    await cp('deploy', join(folder, 'deploy'), { recursive: true });
    for (const name of names) await addUserspace(join(folder, 'deploy/overlays/example', name), otherThan(name));
    const kubeconfig = names.map((name) => clusters[name].adminKubeconfig).join(':');
    return async (commands: string) => {
      try {
        return await bash(`export KUBECONFIG=${kubeconfig}\ncd ${folder}\n${commands}`, clusters.c1);
      } catch (error) {
        for (const name of names) console.error(await nodes[name].logs());
        throw error;
      }
    };
  });
