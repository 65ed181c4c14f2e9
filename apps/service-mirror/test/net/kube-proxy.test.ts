import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { node as nodeObject, startKubeProxy } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { describe, expect, onTestFinished } from 'vitest';
import { globalLabels, it as itOnNetwork, localFirst, ZONE } from '../support/net/it.ts';
import { openConnection, whoAnswers } from '../support/net/programs.ts';
import { MIRRORS } from '../support/mirror-process.ts';
import { type Machine, runPod, setReady } from '../support/net/workload.ts';

/**
 * A test with a node of each cluster, `here` with kube-proxy and `there`, which route each other's pods; and a pod here
 * that calls.
 */
const it = itOnNetwork
  .extend('here', { scope: 'file' }, async ({ network, realClusters }): Promise<Machine> => {
    const node = await network.addNode('here');
    await node.forward(Number(new URL(realClusters.local.url).port));
    await realClusters.local.admin.create(
      '/api/v1/nodes',
      nodeObject({ name: 'here', zone: ZONE, internalIPs: [node.ipv4, node.ipv6] }),
    );
    return { cluster: realClusters.local, node };
  })
  .extend('there', { scope: 'file' }, async ({ network, realClusters, here }): Promise<Machine> => {
    const node = await network.addNode('there');
    await realClusters.remote.admin.create(
      '/api/v1/nodes',
      nodeObject({ name: 'there', zone: ZONE, internalIPs: [node.ipv4, node.ipv6] }),
    );
    await here.node.run('ip', ['route', 'add', '10.4.0.0/16', 'via', node.ipv4]);
    await here.node.run('ip', ['route', 'add', 'fd04::/32', 'via', node.ipv6]);
    await node.run('ip', ['route', 'add', '10.3.0.0/16', 'via', here.node.ipv4]);
    await node.run('ip', ['route', 'add', 'fd03::/32', 'via', here.node.ipv6]);
    return { cluster: realClusters.remote, node };
  })
  .extend('client', { scope: 'file' }, async ({ here }, { onCleanup }): Promise<Place> => {
    const kubeProxy = await startKubeProxy({ ...here, clusterCidr: '10.3.0.0/16,fd03::/32' });
    onCleanup(() => kubeProxy.stop());
    return here.node.addPod(['10.3.0.99', 'fd03::99']);
  });

/** Waits until exactly these pods answer at both addresses of a Service. */
async function becomesServedBy(client: Place, object: KubeObject, names: readonly string[]): Promise<void> {
  const { clusterIPs } = object['spec'] as { clusterIPs: readonly string[] };
  for (const address of clusterIPs) await eventually(() => whoAnswers(client, address, 80), names);
}

const dualStack = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };

describe('the address of a mirror', () => {
  it("reaches the remote Service's ready pods, as its own controller finds them", async ({
    client,
    there,
    sources,
    mirrors,
    start,
  }) => {
    const labels = { app: 'web' };
    await runPod({ ...there, name: 'web-1', ips: ['10.4.0.1', 'fd04::1'], labels });
    await runPod({ ...there, name: 'web-2', ips: ['10.4.0.2', 'fd04::2'], labels });
    await sources.add({ name: 'web', selector: labels, spec: dualStack });
    await start();
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1', '10.4.0.2', 'fd04::1', 'fd04::2'] });
    const mirror = await mirrors.service('c2-default-73736d-web');
    await becomesServedBy(client, mirror, ['web-1', 'web-2']);
    await setReady(there.cluster, 'web-2', false);
    await becomesServedBy(client, mirror, ['web-1']);
    await runPod({ ...there, name: 'web-3', ips: ['10.4.0.3', 'fd04::3'], labels });
    await becomesServedBy(client, mirror, ['web-1', 'web-3']);
    await sources.remove('services', { name: 'web' });
    await becomesServedBy(client, mirror, ['no answer']);
  });
});

describe('the address of a global Service', () => {
  it('reaches the pods of all clusters, or local ones first', async ({
    client,
    here,
    there,
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const selector = { app: 'shop' };
    await runPod({ ...here, name: 'shop-here', ips: ['10.3.0.1'], labels: selector });
    await runPod({ ...there, name: 'shop-there', ips: ['10.4.1.1'], labels: selector });
    for (const each of [sources, localSources]) {
      await each.add({ name: 'shop', labels: globalLabels, selector });
      await each.add({ name: 'fast', labels: { ...globalLabels, ...localFirst }, selector });
    }
    await startGlobal();
    const [shop, fast] = ['gl-default-73736d-shop', 'gl-default-73736d-fast'] as const;
    await mirrors.become({ [shop]: ['10.3.0.1', '10.4.1.1'], [fast]: ['10.3.0.1', '10.4.1.1'] });
    const [everywhere, ownFirst] = [await mirrors.service(shop), await mirrors.service(fast)];
    await becomesServedBy(client, everywhere, ['shop-here', 'shop-there']);
    await becomesServedBy(client, ownFirst, ['shop-here']);
    await setReady(here.cluster, 'shop-here', false);
    await becomesServedBy(client, ownFirst, ['shop-there']);
    await setReady(here.cluster, 'shop-here', true);
    await becomesServedBy(client, ownFirst, ['shop-here']);
    await becomesServedBy(client, everywhere, ['shop-here', 'shop-there']);
  });

  it('reaches the cluster that its order prefers while that is ready, and then the next one', async ({
    client,
    here,
    there,
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const selector = { app: 'order' };
    await runPod({ ...here, name: 'order-here', ips: ['10.3.0.2'], labels: selector });
    await runPod({ ...there, name: 'order-there', ips: ['10.4.1.2'], labels: selector });
    for (const each of [sources, localSources]) {
      await each.add({ name: 'order', labels: globalLabels, selector });
      const annotations = { 'semaphore.uw.io/cluster-order': 'c2; local' };
      await each.patch('services', { name: 'order' }, { metadata: { annotations } });
    }
    await startGlobal();
    const name = 'gl-default-73736d-order';
    await mirrors.become({ [name]: ['10.3.0.2', '10.4.1.2'] });
    const service = await mirrors.service(name);
    await becomesServedBy(client, service, ['order-there']);
    await setReady(there.cluster, 'order-there', false);
    await becomesServedBy(client, service, ['order-here']);
    await setReady(there.cluster, 'order-there', true);
    await becomesServedBy(client, service, ['order-there']);
  });

  it('avoids a drained cluster, whose open connections stay, and which answers when no other can', async ({
    client,
    here,
    there,
    local,
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const selector = { app: 'drain' };
    await runPod({ ...here, name: 'drain-here', ips: ['10.3.0.3'], labels: selector });
    await runPod({ ...there, name: 'drain-there', ips: ['10.4.1.3'], labels: selector });
    for (const each of [sources, localSources]) await each.add({ name: 'drain', labels: globalLabels, selector });
    await startGlobal();
    const name = 'gl-default-73736d-drain';
    await mirrors.become({ [name]: ['10.3.0.3', '10.4.1.3'] });
    const service = await mirrors.service(name);
    await setReady(here.cluster, 'drain-here', false);
    await becomesServedBy(client, service, ['drain-there']);
    const open = openConnection(client, (service['spec'] as { clusterIP: string }).clusterIP, 80);
    onTestFinished(open.close);
    expect(await open.answer()).toBe('drain-there');
    await setReady(here.cluster, 'drain-here', true);
    await becomesServedBy(client, service, ['drain-here', 'drain-there']);

    const configMaps = `/api/v1/namespaces/${MIRRORS}/configmaps`;
    const drains = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'semaphore-drains' }, data: { c2: '' } };
    await local.admin.create(configMaps, drains);
    await becomesServedBy(client, service, ['drain-here']);
    expect(await open.ask()).toBe('drain-there');
    await setReady(here.cluster, 'drain-here', false);
    await becomesServedBy(client, service, ['drain-there']);
    await setReady(here.cluster, 'drain-here', true);
    await becomesServedBy(client, service, ['drain-here']);
    await local.admin.delete(`${configMaps}/semaphore-drains`);
    await becomesServedBy(client, service, ['drain-here', 'drain-there']);
    expect(await open.ask()).toBe('drain-there');
  });
});
